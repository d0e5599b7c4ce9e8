import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

interface Locked {
  readonly engines?: { readonly node?: string }
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

interface Lock {
  readonly packages: Readonly<Record<string, Locked>>
}

const LOCKS = ['package-lock.json', 'tools/openapi/package-lock.json']

test.each(LOCKS)(
  '%s has an entry for every optional package of every platform, or npm ci refuses it (scripts/complete-lock.mjs)',
  (file) => {
    const { packages } = JSON.parse(readFileSync(file, 'utf8')) as Lock
    const missing = Object.entries(packages).flatMap(([at, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !(`${at}/node_modules/${name}` in packages) && !(`node_modules/${name}` in packages),
      ),
    )
    expect(missing).toEqual([])
  },
)

test('the oldest supported Node is named', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock
  expect(packages['']?.engines).toEqual({ node: '>=20.19' })
})

test.each(LOCKS)(
  'no package of %s asks for a newer Node than the oldest supported one, or npm warns of its engine',
  (file) => {
    const { packages } = JSON.parse(readFileSync(file, 'utf8')) as Lock
    const newer = Object.entries(packages).filter(([, { engines }]) => !admits(engines?.node ?? '*', [20, 19, 0]))
    expect(newer.map(([at, { engines }]) => `${at}: ${engines?.node}`)).toEqual([])
  },
)

test.each([
  ['>=22', false],
  ['>=20.19', true],
  ['^20.19.0 || >=22.12.0', true],
  ['^20.20.0 || >=22', false],
  ['18 || 20 || >=22', true],
  ['>= 0.6', true],
  ['>=14 <20', false],
  ['*', true],
])('the engine %s admits Node 20.19.0: %s', (range, isAdmitted) => {
  expect(admits(range, [20, 19, 0])).toBe(isAdmitted)
})

type Version = readonly [number, number, number]

/** Whether an npm range admits the version; for the forms that packages use for their engine. */
function admits(range: string, version: Version): boolean {
  return range.split('||').some((alternative) => {
    const terms = alternative
      .replaceAll(/([<>=^~])\s+/g, '$1')
      .split(/\s+/)
      .filter(Boolean)
    return terms.every((term) => meets(term, version))
  })
}

function meets(term: string, version: Version): boolean {
  const [, operator = '', digits = ''] = /^([<>=^~]*)v?([\d.]*)/.exec(term) ?? []
  const named = digits.split('.').filter(Boolean).map(Number)
  const order = compare(version, named)
  if (operator === '>=') return order >= 0
  if (operator === '<') return order < 0
  if (operator === '^') return order >= 0 && version[0] === named[0]
  if (operator === '~') return order >= 0 && compare(version.slice(0, 2), named.slice(0, 2)) === 0
  // A version that leaves parts out stands for all that begin so; `*` names none.
  return named.every((part, index) => part === version[index])
}

function compare(left: readonly number[], right: readonly number[]): number {
  const at = right.findIndex((part, index) => part !== (left[index] ?? 0))
  return at < 0 ? 0 : (left[at] ?? 0) - (right[at] ?? 0)
}

test('the lock of the tools names no registry, so that any mirror serves it', () => {
  expect(readFileSync('tools/openapi/package-lock.json', 'utf8')).not.toContain('"resolved"')
})
