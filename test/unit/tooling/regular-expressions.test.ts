import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import vm from 'node:vm'
import { parseAst } from 'rolldown/parseAst'
import { describe, expect, test } from 'vitest'

const SRC = fileURLToPath(new URL('../../../src', import.meta.url))

interface Found {
  readonly pattern: string
  readonly flags: string
}

/** Every literal of a regular expression in the sources, by where it is. */
function literalsIn(file: string): Found[] {
  const found: Found[] = []
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(visit)
    if (typeof node !== 'object' || node === null) return
    if ('regex' in node && typeof node.regex === 'object' && node.regex !== null) found.push(node.regex as Found)
    Object.values(node).forEach(visit)
  }
  visit(parseAst(readFileSync(join(SRC, file), 'utf8'), { lang: 'ts' }))
  return found
}

const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))

/** Without one of these an expression looks at each character a bounded number of times. */
const UNBOUNDED = /[*+]|\{\d+,\}/

/** Those whose input is bounded before they see it, and by what. */
const BOUNDED: Readonly<Record<string, string>> = {
  'cli/argv/duration.ts /(\\d+(?:\\.\\d+)?)([smhdw])/g': 'at most 40 characters',
  'server/config/values.ts /:[^/@]*@|password=/i': "the operator's own database URL",
  'shared/authz/caveats/go-time.ts /^([+-]?)(?:0|((?:(?:\\d+\\.?\\d*|\\.\\d+)(?:ns|us|\\u00b5s|\\u03bcs|ms|s|m|h))+))$/':
    'at most 200 characters',
  'shared/authz/caveats/go-time.ts /(\\d*)\\.?(\\d*)(ns|us|\\u00b5s|\\u03bcs|ms|s|m|h)/g': 'at most 200 characters',
  'shared/authz/caveats/parse-text.ts /\\/\\/[^\\n]*|"""[^]*?"""|\'\'\'[^]*?\'\'\'|"(?:\\\\.|[^"\\\\\\n])*"|\'(?:\\\\.|[^\'\\\\\\n])*\'|\\(\\s+\\)|(?<sign>[!-])(?:\\s*\\k<sign>)*/g':
    'no quote in the text is without its end',
}

const LENGTH = 200_000
/** What takes the square of the length needs twenty times as long; what does not takes milliseconds. */
const TIME_MS = 5_000

const COMMON = ['0', 'a', ' ', '\n', '/', '.', '"', '\\"', 'a.', '0.']

/** Texts that make an expression go back again and again: long runs of what it repeats, and then what it does not take. */
function* hostileTexts({ pattern }: Found): Generator<string> {
  const characters = [...new Set(pattern.replaceAll(/\\[a-z]/gi, ''))].filter((one) => !'^$'.includes(one)).slice(0, 12)
  const pairs = characters.slice(0, 6).flatMap((one) => characters.slice(0, 6).map((other) => one + other))
  const words = (pattern.match(/[A-Za-z0-9:/"'<_ @#-]{1,30}/g) ?? []).slice(0, 3)
  for (const pump of new Set([...COMMON, ...characters, ...pairs]))
    for (const begin of new Set(['', ...words])) yield `${begin}${pump.repeat(LENGTH / pump.length)}\u0000`
}

const context = vm.createContext({ text: '', pattern: '', flags: '' })
const SEARCH = new vm.Script('text.replace(new RegExp(pattern, flags), "")')

/** The first text over which the expression takes too long. */
function slowText(found: Found): string | undefined {
  for (const text of hostileTexts(found)) {
    Object.assign(context, { text, ...found })
    try {
      SEARCH.runInContext(context, { timeout: TIME_MS })
    } catch (error) {
      // The error is one of the context, not of this realm.
      if (/timed out/.test(String(error))) return text.slice(0, 24)
      throw error
    }
  }
  return undefined
}

const ALL = FILES.flatMap((file) =>
  literalsIn(file).map((found) => ({ name: `${file} /${found.pattern}/${found.flags}`, found })),
)
const ASKED = ALL.filter(({ name, found }) => UNBOUNDED.test(found.pattern) && !Object.hasOwn(BOUNDED, name))

describe('a regular expression of the sources', () => {
  test('is found by this test, and so is each that is left out', () => {
    expect(ALL.length).toBeGreaterThan(300)
    const names = new Set(ALL.map(({ name }) => name))
    expect(Object.keys(BOUNDED).filter((name) => !names.has(name))).toEqual([])
  })

  test('that takes the square of the length is found out', () => {
    expect(slowText({ pattern: '\\s+$', flags: '' })).toMatch(/^\s+$/)
  })

  test.each(ASKED.map(({ name, found }) => [name, found] as const))(
    'takes hostile texts in its stride: %s',
    { timeout: 120_000 },
    (_, found) => {
      expect(slowText(found)).toBeUndefined()
    },
  )
})
