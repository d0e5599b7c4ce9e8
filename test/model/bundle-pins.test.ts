import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STORES } from '../support/datastores/stores.ts'
import { depth } from '../support/run/depth.ts'
import { INLINE, pack, startCatalogue, type Catalogue } from '../support/server/catalogue.ts'

const BUNDLES = 2
const CLOUDS = 3
const VERSIONS = 4

/** Each of the verbs, with the same members. */
type Doing<Verb extends string, Members> = { [Each in Verb]: { readonly does: Each } & Readonly<Members> }[Verb]

type OfBundle = Doing<'publish' | 'rename' | 'drop', { bundle: number }>
type Creation = Doing<'create', { cloud: number; bundle: number; version: number }>
type OfCloud =
  | Doing<'promote', { cloud: number; version: number }>
  | Doing<'repoint', { cloud: number; bundle: number }>
  | Doing<'override', { cloud: number; count: number }>
  | Doing<'inline' | 'remove', { cloud: number }>

/** What somebody does with a bundle or a Cloud, each named by its place. */
type Step = OfBundle | Creation | OfCloud

const bundle = fc.nat(BUNDLES - 1)
const cloud = fc.nat(CLOUDS - 1)
const version = fc.integer({ min: 1, max: VERSIONS })
const word = <Word extends string>(...words: readonly Word[]) => fc.constantFrom(...words)

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ does: word('publish'), bundle }) },
  { weight: 2, arbitrary: fc.record({ does: word('rename', 'drop'), bundle }) },
  { weight: 6, arbitrary: fc.record({ does: word('create'), cloud, bundle, version: mostlyFirst(version) }) },
  { weight: 5, arbitrary: fc.record({ does: word('promote'), cloud, version }) },
  { weight: 4, arbitrary: fc.record({ does: word('repoint'), cloud, bundle }) },
  { weight: 3, arbitrary: fc.record({ does: word('override'), cloud, count: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ does: word('inline', 'remove'), cloud }) },
)

/** Mostly version 1, which every bundle has. */
function mostlyFirst(other: fc.Arbitrary<number>): fc.Arbitrary<number> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: other })
}

/** One step, or two at once. */
const turns = fc.array(fc.oneof(fc.tuple(step), fc.tuple(step, step)), { minLength: 4, maxLength: 14 })

/** A pinned reference, or null for packages of its own. */
type Pin = { readonly bundle: number; readonly version: number; readonly overrides: number } | null

/** The latest version of each bundle and the pin of each Cloud, by place; undefined where there is none. */
interface Model {
  readonly bundles: readonly (number | undefined)[]
  readonly clouds: readonly (Pin | undefined)[]
}

type Said = readonly [Model, string]

const withCloud = (model: Model, at: number, pin: Pin | undefined): Model => ({
  ...model,
  clouds: model.clouds.with(at, pin),
})

/** What becomes of the model, and the answer, where a step is done alone. */
function says(model: Model, one: Step): Said {
  switch (one.does) {
    case 'publish':
    case 'rename':
    case 'drop':
      return saysOfBundle(model, one)
    case 'create':
      return saysOfCreate(model, one)
    default:
      return saysOfCloud(model, one)
  }
}

function saysOfBundle(model: Model, one: OfBundle): Said {
  const latest = model.bundles[one.bundle]
  if (latest === undefined) return [model, 'gone']
  if (one.does === 'rename') return [model, '200']
  const isReferenced = model.clouds.some((pin) => pin?.bundle === one.bundle)
  if (one.does === 'drop' && isReferenced) return [model, 'provider_bundle_referenced']
  const next = one.does === 'publish' ? latest + 1 : undefined
  return [{ ...model, bundles: model.bundles.with(one.bundle, next) }, one.does === 'publish' ? '200' : '204']
}

function saysOfCreate(model: Model, one: Creation): Said {
  const latest = model.bundles[one.bundle]
  if (latest === undefined) return [model, 'unknown_provider_bundle']
  if (one.version > latest) return [model, 'provider_bundle_version_not_found']
  if (model.clouds[one.cloud] !== undefined) return [model, 'slug_conflict']
  return [withCloud(model, one.cloud, { bundle: one.bundle, version: one.version, overrides: 0 }), '201']
}

function saysOfCloud(model: Model, one: OfCloud): Said {
  const pin = model.clouds[one.cloud]
  if (pin === undefined) return [model, 'gone']
  if (one.does === 'remove') return [withCloud(model, one.cloud, undefined), '204']
  if (one.does === 'inline') return [withCloud(model, one.cloud, null), '200']
  if (one.does === 'repoint') {
    const latest = model.bundles[one.bundle]
    if (latest === undefined) return [model, 'unknown_provider_bundle']
    const overrides = pin?.overrides ?? 0
    return [withCloud(model, one.cloud, { bundle: one.bundle, version: latest, overrides }), '200']
  }
  if (pin === null) return [model, 'invalid_cloud_provider_mode']
  if (one.does === 'override') return [withCloud(model, one.cloud, { ...pin, overrides: one.count }), '200']
  if (one.version > (model.bundles[pin.bundle] ?? 0)) return [model, 'provider_bundle_version_not_found']
  return [withCloud(model, one.cloud, { ...pin, version: one.version }), '200']
}

/** Somebody else was first between the read and the write: nothing was changed. */
const CONFLICTS: readonly string[] = ['provider_bundle_stale', 'provider_bundle_reference_moved']
const GONE: readonly unknown[] = ['permission_denied', 'provider_bundle_not_found', 'cloud_not_found']

/** Every outcome that a turn may have: one step after the other, or one of two refused for the other. */
function outcomes(model: Model, turn: readonly [Step] | readonly [Step, Step]) {
  const [first, second] = turn
  const [afterFirst, firstAlone] = says(model, first)
  if (second === undefined) return [{ model: afterFirst, answers: [firstAlone] }]
  const [afterSecond, secondAlone] = says(model, second)
  const [inOrder, thenSecond] = says(afterFirst, second)
  const [reversed, thenFirst] = says(afterSecond, first)
  return [
    { model: inOrder, answers: [firstAlone, thenSecond] },
    { model: reversed, answers: [thenFirst, secondAlone] },
    ...CONFLICTS.flatMap((conflict) => [
      { model: afterFirst, answers: [firstAlone, conflict] },
      { model: afterSecond, answers: [conflict, secondAlone] },
    ]),
  ]
}

/** The bundles and Clouds of one run, over the API. */
async function begin(catalogue: Catalogue, run: number) {
  const bundles: string[] = []
  for (let at = 0; at < BUNDLES; at++) bundles.push(await catalogue.bundle({ provider_packages: [pack('base')] }))
  const clouds = new Map<number, string>()
  const send = (operation: string, body?: unknown) => catalogue.call(catalogue.root, operation, body)

  async function answer(one: Step) {
    if (one.does === 'publish')
      return send(`PATCH ${bundleAt(one.bundle)}`, { provider_packages: [pack('base', 'v2')] })
    if (one.does === 'rename') return send(`PATCH ${bundleAt(one.bundle)}`, { display_name: 'R' })
    if (one.does === 'drop') return send(`DELETE ${bundleAt(one.bundle)}`)
    if (one.does === 'create') return create(one)
    const id = clouds.get(one.cloud)
    if (id === undefined) return undefined
    return one.does === 'remove' ? send(`DELETE /v1/clouds/${id}`) : send(`PATCH /v1/clouds/${id}`, bodyOf(one))
  }

  const bundleAt = (at: number) => `/v1/provider-bundles/${bundles[at]}`

  async function create({ cloud: at, bundle: of, version: provider_bundle_version }: Creation) {
    const described = { slug: `run-${run}-${at}`, display_name: 'C', provider: 'hetzner', endpoint: {} }
    const body = { ...described, provider_bundle_id: bundles[of], provider_bundle_version }
    const created = await send('POST /v1/clouds', body)
    if (created.status === 201) clouds.set(at, String(created.body['id']))
    return created
  }

  function bodyOf(one: Exclude<OfCloud, { does: 'remove' }>): unknown {
    if (one.does === 'promote') return { provider_bundle_version: one.version }
    if (one.does === 'repoint') return { provider_bundle_id: bundles[one.bundle] }
    if (one.does === 'inline') return INLINE
    return { provider_package_overrides: Array.from({ length: one.count }, (_, index) => pack(`x${index}`)) }
  }

  return {
    async does(one: Step): Promise<string> {
      const answered = await answer(one)
      if (answered === undefined || GONE.includes(answered.body['code'])) return 'gone'
      return answered.status < 300 ? String(answered.status) : String(answered.body['code'])
    },
    /** What is stored, with the versions of each bundle counted. */
    async looks(): Promise<Model> {
      const rows = await catalogue.db
        .selectFrom('clouds')
        .select(['slug', 'bundle_id', 'bundle_version', 'package_overrides'])
        .where('slug', 'like', `run-${run}-%`)
        .execute()
      const pins = Array.from({ length: CLOUDS }, (_, at): Pin | undefined => {
        const row = rows.find(({ slug }) => slug === `run-${run}-${at}`)
        if (row === undefined || row.bundle_id === null || row.bundle_version === null) return row && null
        const overrides = row.package_overrides?.length ?? 0
        return { bundle: bundles.indexOf(row.bundle_id), version: row.bundle_version, overrides }
      })
      return { bundles: await Promise.all(bundles.map(latestOf)), clouds: pins }
    },
  }

  async function latestOf(id: string): Promise<number | undefined> {
    const query = catalogue.db.selectFrom('provider_bundle_versions').select('version').where('bundle_id', '=', id)
    const versions = (await query.orderBy('version').execute()).map((row) => row.version)
    expect(versions).toEqual(versions.map((_, index) => index + 1))
    return versions.at(-1)
  }
}

describe.each(STORES)('Bundle versions and pins on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let catalogue: Catalogue
    let runs = 0
    beforeAll(async () => {
      catalogue = await startCatalogue(store)
    })
    afterAll(() => catalogue.stop())

    it('are what the model says after every turn, also of two steps at once: a pin moves only by a patch of its Cloud', async () => {
      const property = fc.asyncProperty(turns, async (taken) => {
        const run = await begin(catalogue, (runs += 1))
        let model: Model = { bundles: [1, 1], clouds: [undefined, undefined, undefined] }
        for (const turn of taken) {
          const answers = await Promise.all(turn.map((one) => run.does(one)))
          const came = { model: await run.looks(), answers }
          const possible = outcomes(model, turn)
          const fitting = possible.find((outcome) => isDeepStrictEqual(outcome, came))
          if (fitting === undefined) expect(came, `after ${JSON.stringify(turn)}`).toEqual(possible[0])
          model = came.model
        }
      })
      await fc.assert(property, { numRuns: depth({ ci: 15, deep: 300 }) })
    })
  })
})
