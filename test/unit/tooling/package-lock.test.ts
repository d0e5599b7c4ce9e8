import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { admits, OLDEST_NODE } from '../../../scripts/lib/engines.mjs'

interface Locked {
  readonly engines?: { readonly node?: string }
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

interface Lock {
  readonly packages: Readonly<Record<string, Locked>>
}

const VERSION = /^\d+\.\d+\.\d+$/

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
  expect(OLDEST_NODE).toEqual([20, 19, 0])
})

test.each(LOCKS)(
  'no package of %s asks for a newer Node than the oldest supported one, or npm warns of its engine',
  (file) => {
    const { packages } = JSON.parse(readFileSync(file, 'utf8')) as Lock
    const newer = Object.entries(packages).filter(([, { engines }]) => !admits(engines?.node ?? '*'))
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

test('the lock of the tools names no registry, so that any mirror serves it', () => {
  expect(readFileSync('tools/openapi/package-lock.json', 'utf8')).not.toContain('"resolved"')
})

test('every package that the project asks for is named by its exact version (docs/decisions/0086)', () => {
  const own = JSON.parse(readFileSync('package.json', 'utf8')) as Record<string, Record<string, string>>
  const asked = ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((kind) =>
    Object.entries(own[kind] ?? {}),
  )
  expect(asked.length).toBeGreaterThan(60)
  expect(asked.filter(([, version]) => !VERSION.test(version))).toEqual([])
})
