import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { contract } from '../../src/shared/contract/index.ts'
import { isMedia } from '../../src/shared/contract/operation.ts'
import { asZod } from '../../src/shared/contract/json-schema.ts'
import { STORES } from '../support/datastores/stores.ts'
import { readDocument, type Document } from './document.ts'
import { exampleOf, isAlike, type Recorded } from './example-recorder.ts'
import type { Running } from './loop.ts'
import { placedIn, type Placed } from './placed.ts'
import { scenarios } from './scenarios/all.ts'
import { createSubject } from './subject.ts'
import { wireOf } from './rules/rule.ts'
import { exchange, signed } from './wire.ts'
import { startWorld, type World } from './world.ts'

const FOLDER = fileURLToPath(new URL('../../docs/contract/', import.meta.url))
const FILE = join(FOLDER, 'examples.json')
const GENERATED = join(FOLDER, 'openapi.json')
const RECORDS = process.env['CTL_EXAMPLES'] === 'update'
const committed: Readonly<Record<string, Recorded>> = JSON.parse(readFileSync(FILE, 'utf8'))
const placed = placedIn(contract)
const [store] = STORES
/** What they answer depends on rows and samples that there happen to be. */
const OF_THE_MOMENT = new Set([
  'GetAudit',
  'GetAuditExport',
  'GetAuditVerify',
  'GetDomainCapacityHistory',
  'GetDomainReachabilityHistory',
])

/** Examples of the document are calls that a server of this build answered: `CTL_EXAMPLES=update` records them again. */
describe('the examples of the API document', () => {
  const recorded: Record<string, Recorded> = {}
  let running: Running<World> | undefined

  beforeAll(async () => {
    if (store === undefined) throw new Error('there is no datastore')
    // Names in the order of their making, so that lists by name show the same objects at each recording.
    let names = 0
    running = await startWorld(store, 'embedded', () => `x00000000-0000-7000-8000-${String(++names).padStart(12, '0')}`)
  })
  afterAll(async () => {
    await running?.stop()
    if (!RECORDS) return
    const sorted = Object.entries(recorded).toSorted(([a], [b]) => (a < b ? -1 : 1))
    writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(sorted), undefined, 1)}\n`)
  })

  it.each(placed.map((one) => [one.id, one] as const))('of %s are of a call as it is made today', async (id, one) => {
    if (running === undefined) throw new Error('the server did not start')
    const document = readDocument(running.openapi)
    const subject = createSubject(one, { world: running.world, document, exchange, contract: placed, scenarios })
    const call = await subject.arrange()
    const answer = await exchange(running.world.url, signed(wireOf(subject, call), call.as))
    expect(answer.status, answer.text).toBeLessThan(400)
    const example = exampleOf({ id, body: call.input['body'], answer })
    recorded[id] = example
    expectFitting(one, example, document)
    if (RECORDS) return
    const kept = committed[id] ?? {}
    expectFitting(one, kept, document)
    const mayLack = OF_THE_MOMENT.has(id)
    expect(isAlike(kept, example, { mayLack }), `${JSON.stringify(kept)}\n${JSON.stringify(example)}`).toBe(true)
  })

  it.skipIf(RECORDS)('are in the document that the server serves, which is the generated one', async () => {
    if (running === undefined) throw new Error('the server did not start')
    const { url, root } = running.world
    const { text } = await exchange(url, signed({ method: 'GET', path: '/v1/openapi.json' }, root))
    // The generated file has line breaks for its readers; each byte beside those is the same.
    expect(text).toBe(JSON.stringify(JSON.parse(readFileSync(GENERATED, 'utf8'))))
  })
})

/** The body and each answer of an example fit what the operation declares. */
function expectFitting({ id, operation }: Placed, { body, answers = {} }: Recorded, document: Document): void {
  for (const [status, json] of Object.entries(answers)) {
    expect(document.mismatch(id, Number(status), json)).toBeUndefined()
  }
  if (operation.body !== undefined && body !== undefined) {
    expect(asZod(operation.body).safeParse(body).error).toBeUndefined()
  }
}

describe.skipIf(RECORDS)('the committed examples', () => {
  it('are of operations that there are', () => {
    expect(Object.keys(committed)).toEqual(placed.map(({ id }) => id).toSorted())
  })

  it('have a body where the operation requires one, and an answer where it has one of JSON', () => {
    const missing = placed.filter(({ id, operation: { body, responses } }) => {
      const takes = body !== undefined && !asZod(body).safeParse({}).success
      const shapes = Object.values(responses)
      const answers = shapes.length > 0 && shapes.every((shape) => shape !== null && !isMedia(shape))
      const example = committed[id]
      return (takes && example?.body === undefined) || (answers && example?.answers === undefined)
    })
    expect(missing.map(({ id }) => id)).toEqual([])
  })
})
