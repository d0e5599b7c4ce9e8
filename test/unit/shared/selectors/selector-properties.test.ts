import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bindSelector, nearestDefinition, type LabelValue } from '../../../../src/shared/selectors/bind-selector.ts'
import { canonicalSelector } from '../../../../src/shared/selectors/canonical-selector.ts'
import { matches } from '../../../../src/shared/selectors/evaluate-selector.ts'
import { parseSelector } from '../../../../src/shared/selectors/parse-selector.ts'
import { CANONICAL_BYTES_MAX, ERRORS_MAX, type SelectorError } from '../../../../src/shared/selectors/syntax.ts'
import { definition } from './definitions.ts'

/** A requirement as data, from which the text is written and the expected verdict is computed. */
interface Condition {
  readonly key: 'env' | 'cores' | 'legacy'
  readonly op: 'exists' | 'absent' | 'in' | 'notin' | '=' | '==' | '!=' | '<' | '>'
  readonly values: readonly LabelValue[]
}

const TYPES = { env: 'string', cores: 'integer', legacy: 'boolean' } as const
const DEFINITIONS = Object.entries(TYPES).map(([key, type]) => definition(`platform/${key}`, type))

const texts = fc.oneof(
  fc.constantFrom('', 'a', 'b', 'prod', 'in', 'a b', ',', '"', '\\', '\n', 'é', '🚀', '\uffee', '\u2028', '\u007f'),
  fc.string({ unit: 'binary', maxLength: 6 }).filter((text) => !text.includes('\0')),
)
const VALUES = { env: texts, cores: fc.integer({ min: -3, max: 3 }), legacy: fc.boolean() } as const

const conditions: fc.Arbitrary<Condition> = fc.constantFrom('env', 'cores', 'legacy').chain((key) => {
  const ops = ['exists', 'absent', 'in', 'notin', '=', '==', '!=', ...(key === 'cores' ? ['<', '>'] : [])] as const
  const values: fc.Arbitrary<LabelValue[]> = fc.array<LabelValue>(VALUES[key], { minLength: 1, maxLength: 4 })
  return fc.record({ key: fc.constant(key), op: fc.constantFrom(...ops) as fc.Arbitrary<Condition['op']>, values })
})

const worlds = fc.record({
  conditions: fc.array(conditions, { minLength: 1, maxLength: 6 }),
  labels: fc.record<Partial<Record<Condition['key'], LabelValue>>>(VALUES, { requiredKeys: [] }),
  blank: fc.constantFrom('', ' ', '\t\n '),
  isQuoted: fc.boolean(),
})

const BARE = /^[A-Za-z0-9._:@+/-]+$/

function written({
  conditions: all,
  blank,
  isQuoted,
}: Pick<typeof worlds extends fc.Arbitrary<infer W> ? W : never, 'conditions' | 'blank' | 'isQuoted'>): string {
  const valueOf = (value: LabelValue): string => {
    const text = String(value)
    return isQuoted || !BARE.test(text) ? JSON.stringify(text) : text
  }
  const one = ({ key, op, values }: Condition): string => {
    if (op === 'exists') return key
    if (op === 'absent') return ['!', key].join(blank)
    if (op === 'in' || op === 'notin')
      return `${key} ${op}${blank}(${blank}${values.map(valueOf).join(`${blank},${blank}`)}${blank})`
    return [key, op, valueOf(values[0] ?? '')].join(blank)
  }
  return `${blank}${all.map(one).join(`${blank},${blank}`)}${blank}`
}

/** The verdict, computed from the data alone. */
function expected(all: readonly Condition[], labels: Partial<Record<Condition['key'], LabelValue>>): boolean {
  for (const { key, op, values } of all) {
    const label = labels[key]
    const first = values[0]
    const verdicts: Readonly<Record<Condition['op'], boolean>> = {
      exists: key in labels,
      absent: !(key in labels),
      in: values.some((value) => value === label),
      notin: values.every((value) => value !== label),
      '=': label === first,
      '==': label === first,
      '!=': label !== first,
      '<': key in labels && Number(label) < Number(first),
      '>': key in labels && Number(label) > Number(first),
    }
    if (!verdicts[op]) return false
  }
  return true
}

const bind = (text: string, bytesMax?: number) =>
  bindSelector(parseSelector(text, bytesMax), (key) => nearestDefinition(DEFINITIONS, {}, key), DEFINITIONS)

describe('Any selector', () => {
  test('selects what a naive evaluation of it selects, and its canonical form selects the same', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const { bound, errors } = bind(written(world))
        expect(errors).toEqual([])
        if (bound === undefined) return
        const labels = new Map(Object.entries(world.labels).map(([key, value]) => [`platform/${key}`, value]))
        const verdict = expected(world.conditions, world.labels)
        expect(matches(bound, labels)).toBe(verdict)
        const again = bind(canonicalSelector(bound), CANONICAL_BYTES_MAX).bound
        expect(again && matches(again, labels)).toBe(verdict)
      }),
      { numRuns: 2_000 },
    )
  })

  test('has one canonical form, however it is written and ordered', () => {
    fc.assert(
      fc.property(worlds, fc.infiniteStream(fc.nat()), (world, order) => {
        const { bound } = bind(written(world))
        if (bound === undefined) throw new Error('it can be bound')
        const canonical = canonicalSelector(bound)
        const shuffled = world.conditions
          .map((condition) => ({ condition, rank: order.next().value ?? 0 }))
          .toSorted((one, other) => one.rank - other.rank)
          .map(({ condition }) => ({
            ...condition,
            values: condition.values.slice(0, 1).concat(condition.values.slice(1).toReversed()),
          }))
        for (const text of [
          canonical,
          written({ ...world, conditions: shuffled, blank: ' ', isQuoted: !world.isQuoted }),
        ]) {
          const other = bind(text, CANONICAL_BYTES_MAX).bound
          expect(other && canonicalSelector(other)).toBe(canonical)
        }
      }),
      { numRuns: 1_000 },
    )
  })
})

/** Texts that are selectors but for some characters. */
const nearly = fc
  .array(
    fc.constantFrom(
      ...'a,b env cores platform/ domain: in notin ( ) = == != < > ! * " \\ é 🚀 5 A \0 \ud800'.split(' '),
      ' ',
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(''))

const anything = fc.oneof(
  nearly,
  fc.string({ unit: 'binary', maxLength: 200 }),
  worlds.map(written),
  fc.string({ unit: 'grapheme' }),
)

const encoder = new TextEncoder()

/** Whether each error is within the text, after the one before it, and begins and ends between characters. */
function assertPlaces(text: string, errors: readonly SelectorError[]): void {
  const bytes = encoder.encode(text)
  const isContinuation = (at: number): boolean => ((bytes[at] ?? 0) & 0xc0) === 0x80
  let before = 0
  for (const { offset, length } of errors) {
    expect(offset).toBeGreaterThanOrEqual(before)
    expect(length).toBeGreaterThanOrEqual(0)
    expect(offset + length).toBeLessThanOrEqual(bytes.length)
    expect(isContinuation(offset) || isContinuation(offset + length)).toBe(false)
    if (length === 0) expect(offset).toBe(bytes.length)
    before = offset
  }
}

describe('Any text', () => {
  test('is a selector or has errors, each within the text and in its order', () => {
    fc.assert(
      fc.property(anything, (text) => {
        const { selector, errors } = parseSelector(text)
        expect(selector === undefined).toBe(errors.length > 0)
        assertPlaces(text, errors)
        const binding = bind(text)
        expect(binding.bound === undefined).toBe(binding.errors.length > 0)
        assertPlaces(text, binding.errors)
        expect(binding.errors.length).toBeLessThanOrEqual(ERRORS_MAX)
      }),
      { numRuns: 5_000 },
    )
  })

  test('has errors where the same text after 🚀 has them, four bytes later', () => {
    fc.assert(
      fc.property(nearly, (text) => {
        const moved = parseSelector(`"🚀",${text}`).errors.slice(1)
        const bytes = encoder.encode(text).length
        fc.pre(bytes < 4_000 && !/^[ *]*(?:\*|$)/.test(text))
        const places = parseSelector(text).errors.map(({ offset, code }) => [offset + 7, code])
        fc.pre(places.length < 30)
        expect(moved.map(({ offset, code }) => [offset, code])).toEqual(places)
      }),
      { numRuns: 1_000 },
    )
  })
})
