import { describe, expect, test } from 'vitest'
import { parseSelector } from '../../../../src/shared/selectors/parse-selector.ts'
import { CANONICAL_BYTES_MAX, type Requirement, type SelectorError } from '../../../../src/shared/selectors/syntax.ts'

const DOMAIN = '0197a000-0000-7000-8000-00000000d001'

/** A requirement in short: operator, key and values. */
function outline(requirement: Requirement): readonly string[] {
  const { scope, localKey } = requirement.key
  const key =
    scope === undefined ? localKey : `${scope.kind}${scope.kind === 'platform' ? '' : `:${scope.id}`}|${localKey}`
  if ('values' in requirement) return [requirement.op, key, ...requirement.values.map(({ text }) => text)]
  return 'value' in requirement ? [requirement.op, key, requirement.value.text] : [requirement.op, key]
}

/** Rows with a title of their own, since some texts are long. */
function titled<Row extends readonly [string, unknown]>(rows: readonly Row[]): readonly (readonly [string, ...Row])[] {
  return rows.map((row) => [JSON.stringify(row[0]).slice(0, 60), ...row] as const)
}

describe('A selector', () => {
  test.each(
    titled<readonly [string, readonly (readonly string[])[]]>([
      ['*', []],
      ['  *\n', []],
      ['env', [['exists', 'env']]],
      ['!env', [['absent', 'env']]],
      [' ! env ', [['absent', 'env']]],
      ['env=prod', [['in', 'env', 'prod']]],
      ['env==prod', [['in', 'env', 'prod']]],
      ['env = prod', [['in', 'env', 'prod']]],
      ['env!=prod', [['notin', 'env', 'prod']]],
      ['cores<8', [['lt', 'cores', '8']]],
      ['cores>-1', [['gt', 'cores', '-1']]],
      ['env in (prod)', [['in', 'env', 'prod']]],
      ['env in(prod,dev)', [['in', 'env', 'prod', 'dev']]],
      ['env\tnotin\n( prod , dev )', [['notin', 'env', 'prod', 'dev']]],
      [
        'env=prod,tier in (web,api),!legacy',
        [
          ['in', 'env', 'prod'],
          ['in', 'tier', 'web', 'api'],
          ['absent', 'legacy'],
        ],
      ],
      ['in in (in)', [['in', 'in', 'in']]],
      ['in', [['exists', 'in']]],
      [
        '!notin,in=notin',
        [
          ['absent', 'notin'],
          ['in', 'in', 'notin'],
        ],
      ],
      ['platform/env=prod', [['in', 'platform|env', 'prod']]],
      ['platform', [['exists', 'platform']]],
      ['team/app=a', [['in', 'team/app', 'a']]],
      ['platform/team/app=a', [['in', 'platform|team/app', 'a']]],
      [`domain:${DOMAIN.toUpperCase()}/env=a`, [['in', `domain:${DOMAIN}|env`, 'a']]],
      [`project:${DOMAIN}/a/b`, [['exists', `project:${DOMAIN}|a/b`]]],
      ['a="b,c)"', [['in', 'a', 'b,c)']]],
      ['a=""', [['in', 'a', '']]],
      [String.raw`a="\"\\\/\b\f\n\r\t\u00e9"`, [['in', 'a', '"\\/\b\f\n\r\té']]],
      ['a="\u007f🚀"', [['in', 'a', '\u007f🚀']]],
      ['a=A.z_0:9@x+y/-', [['in', 'a', 'A.z_0:9@x+y/-']]],
      [`${'a'.repeat(128)}=b`, [['in', 'a'.repeat(128), 'b']]],
      [`a="${'🚀'.repeat(256)}"`, [['in', 'a', '🚀'.repeat(256)]]],
      [`a in (${Array(64).fill('b').join()})`, [['in', 'a', ...Array(64).fill('b')]]],
      [Array(32).fill('a').join(), Array.from({ length: 32 }, () => ['exists', 'a'])],
    ]),
  )('%s is read', (_, text, expected) => {
    const { selector, errors } = parseSelector(text)
    expect(errors).toEqual([])
    expect(selector?.requirements.map(outline)).toEqual(expected)
  })

  test('has the places of its keys, operators and values in UTF-8 bytes', () => {
    const { selector } = parseSelector('a="é🚀", bb < 5')
    expect(selector?.requirements).toEqual([
      {
        op: 'in',
        key: { scope: undefined, localKey: 'a', offset: 0, length: 1 },
        values: [{ text: 'é🚀', offset: 2, length: 8 }],
      },
      {
        op: 'lt',
        key: { scope: undefined, localKey: 'bb', offset: 12, length: 2 },
        operator: { offset: 15, length: 1 },
        value: { text: '5', offset: 17, length: 1 },
      },
    ])
  })

  test('of 4,096 bytes is read, and so is a stored one of more', () => {
    expect(parseSelector(`a${' '.repeat(4_095)}`).errors).toEqual([])
    expect(parseSelector(`a${' '.repeat(4_096)}`, CANONICAL_BYTES_MAX).errors).toEqual([])
    expect(parseSelector(`a${' '.repeat(5_632)}`, CANONICAL_BYTES_MAX).errors[0]?.code).toBe('too_long')
  })
})

type Fault = Pick<SelectorError, 'code' | 'offset' | 'length'> & { readonly expected?: readonly string[] }

const fault = (code: SelectorError['code'], offset: number, length: number, expected?: readonly string[]): Fault =>
  expected === undefined ? { code, offset, length } : { code, offset, length, expected }

const AFTER_KEY = ['=', '==', '!=', '<', '>', 'in', 'notin', ',', 'end']

describe('A wrong selector', () => {
  test.each(
    titled<readonly [string, readonly Fault[]]>([
      ['', [fault('empty', 0, 0, ['*', '!', 'key'])]],
      [' \t\r\n', [fault('empty', 4, 0)]],
      [',', [fault('unexpected_token', 0, 1, ['*', '!', 'key']), fault('unexpected_token', 1, 0, ['!', 'key'])]],
      ['a,', [fault('unexpected_token', 2, 0, ['!', 'key'])]],
      [',a', [fault('unexpected_token', 0, 1)]],
      ['a,,b', [fault('unexpected_token', 2, 1, ['!', 'key'])]],
      ['*,a', [fault('unexpected_token', 1, 1, ['end'])]],
      ['a,*', [fault('unexpected_token', 2, 1, ['!', 'key'])]],
      ['**', [fault('unexpected_token', 1, 1, ['end'])]],
      ['!', [fault('unexpected_token', 1, 0, ['key'])]],
      ['!!a', [fault('unexpected_token', 1, 1, ['key'])]],
      ['!a=b', [fault('unexpected_token', 2, 1, [',', 'end'])]],
      ['a b', [fault('unexpected_token', 2, 1, AFTER_KEY)]],
      ['a=', [fault('unexpected_token', 2, 0, ['value'])]],
      ['a===b', [fault('unexpected_token', 3, 1, ['value'])]],
      ['a<=5', [fault('unexpected_token', 2, 1, ['value'])]],
      ['a=b c', [fault('unexpected_token', 4, 1, [',', 'end'])]],
      ['a in', [fault('unexpected_token', 4, 0, ['('])]],
      ['a in b', [fault('unexpected_token', 5, 1, ['('])]],
      ['a in ()', [fault('unexpected_token', 6, 1, ['value'])]],
      ['a in (b', [fault('unexpected_token', 7, 0, [',', ')'])]],
      ['a in (b,)', [fault('unexpected_token', 8, 1, ['value'])]],
      ['a (b)', [fault('unexpected_token', 2, 1, AFTER_KEY)]],
      ['a)', [fault('unexpected_token', 1, 1)]],
      ['=a', [fault('unexpected_token', 0, 1)]],
      ['"a"=b', [fault('unexpected_token', 0, 3)]],
      ['Env=a', [fault('unexpected_token', 0, 3, ['key'])]],
      ['a-=b', [fault('unexpected_token', 0, 2, ['key'])]],
      ['platform/=b', [fault('unexpected_token', 0, 9, ['key'])]],
      ['platform//a', [fault('unexpected_token', 0, 11, ['key'])]],
      ['user:x/a', [fault('unexpected_token', 0, 8, ['key'])]],
      [`domain:${DOMAIN}`, [fault('unexpected_token', 0, 43, ['key'])]],
      [`Domain:${DOMAIN}/a`, [fault('unexpected_token', 0, 45, ['key'])]],
      [`domain:${'-'.repeat(36)}/a`, [fault('unexpected_token', 0, 45, ['key'])]],
      ['domain:00000000-0000-0000-0000-000000000000/a', [fault('unexpected_token', 0, 45, ['key'])]],
      ['a=🚀', [fault('unexpected_token', 2, 4, ['value'])]],
      ['a="🚀" b', [fault('unexpected_token', 9, 1, [',', 'end'])]],
      ['é=1,🚀=2,a', [fault('unexpected_token', 0, 2), fault('unexpected_token', 5, 4)]],
      ['a=\u00a0b', [fault('unexpected_token', 2, 2)]],
      ['a="b', [fault('unterminated_string', 2, 2, ['"'])]],
      ['a="🚀,c=d', [fault('unterminated_string', 2, 9)]],
      ['a="b\\"', [fault('unterminated_string', 2, 4)]],
      ['a="b\\', [fault('unterminated_string', 2, 3)]],
      ['"', [fault('unterminated_string', 0, 1)]],
      ['a in ("b', [fault('unterminated_string', 6, 2)]],
      ['a="é\\x"', [fault('unexpected_token', 5, 2, ['value'])]],
      ['a="\\u12"', [fault('unexpected_token', 3, 2, ['value'])]],
      ['a="\n"', [fault('unexpected_token', 3, 1, ['value'])]],
      ['a="\\u0000"', [fault('unexpected_token', 2, 8, ['value'])]],
      ['a="\\ud800"', [fault('unexpected_token', 2, 8, ['value'])]],
      ['a="\ud800"', [fault('unexpected_token', 2, 5, ['value'])]],
      [`${'a'.repeat(129)}=b`, [fault('too_long', 0, 129)]],
      [`platform/${'a'.repeat(129)}=b`, [fault('too_long', 0, 138)]],
      [`a=${'b'.repeat(257)},c=`, [fault('too_long', 2, 257), fault('unexpected_token', 262, 0)]],
      [`a="${'🚀'.repeat(257)}"`, [fault('too_long', 2, 1_030)]],
      [`a in (${Array(65).fill('b').join()}),!`, [fault('too_long', 134, 1, [')']), fault('unexpected_token', 138, 0)]],
      [Array(33).fill('a').join(), [fault('too_long', 64, 1, ['end'])]],
      [`${Array(32).fill('a').join()},é,b`, [fault('too_long', 64, 4, ['end'])]],
      [`${Array(32).fill('a').join()},`, [fault('unexpected_token', 64, 0)]],
      [`a${' '.repeat(4_095)}b`, [fault('too_long', 4_096, 1, ['end'])]],
      [`a${' '.repeat(4_094)}🚀b`, [fault('too_long', 4_095, 5)]],
      [
        'a in (b,,c),d=,e in f,g',
        [fault('unexpected_token', 8, 1), fault('unexpected_token', 14, 1), fault('unexpected_token', 20, 1)],
      ],
      ['a in (b=c,d),e f', [fault('unexpected_token', 7, 1), fault('unexpected_token', 15, 1)]],
      ['a in (b,c d=1,!', [fault('unexpected_token', 10, 1)]],
      ['a b),c d', [fault('unexpected_token', 2, 1), fault('unexpected_token', 7, 1)]],
    ]),
  )('%s is refused where it is wrong', (_, text, expected) => {
    const { selector, errors } = parseSelector(text)
    expect(selector).toBeUndefined()
    expect(errors).toHaveLength(expected.length)
    expect(errors).toMatchObject(expected)
  })

  test('keeps the requirements that are right', () => {
    const { requirements } = parseSelector('a=b,c=,!d,e in (f')
    expect(requirements.map(outline)).toEqual([
      ['in', 'a', 'b'],
      ['absent', 'd'],
    ])
  })

  test.each(
    titled<readonly [string, string]>([
      ['', 'A selector is not empty: write * to select everything.'],
      ['a=', 'Expected a value, found the end of the text.'],
      ['a in (b c)', 'Expected "," or ")", found "c".'],
      ['a,*', 'Expected "!" or a key, found "*".'],
      ['*=a', 'Expected the end of the text, found "=".'],
      ['a="b', 'This text begins with a quotation mark and has none at its end.'],
      ['a="\\x"', '"\\\\x" must be written as JSON writes it in a quoted text.'],
      [`a=b ${'é'.repeat(60)}`, `Expected "," or the end of the text, found "${'é'.repeat(40)}…".`],
      [
        'Env',
        '"Env" is not a key: a key has a-z, 0-9, ".", "_", "/" and "-", beginning and ending with a letter or digit.',
      ],
      ['team:x', '"team:x" is not a key: a scope is platform, domain:<uuid> or project:<uuid>, and a "/" ends it.'],
      ['a'.repeat(129), 'A key has at most 128 characters after its scope.'],
      [`a=${'b'.repeat(257)}`, 'A value has at most 256 characters.'],
      [`a in (${Array(65).fill('b').join()})`, 'A list has at most 64 values.'],
      [Array(33).fill('a').join(), 'A selector has at most 32 requirements.'],
      [' '.repeat(4_097), 'A selector has at most 4096 bytes of UTF-8.'],
      ['a="\\u0000"', 'A value has no character U+0000 and no half of a surrogate pair.'],
    ]),
  )('%s is refused in a sentence', (_, text, message) => {
    expect(parseSelector(text).errors[0]?.message).toBe(message)
  })

  test('of a megabyte is refused unread', () => {
    expect(parseSelector('('.repeat(1_048_576)).errors).toMatchObject([
      { code: 'too_long', offset: 4_096, length: 1_044_480 },
    ])
  })
})
