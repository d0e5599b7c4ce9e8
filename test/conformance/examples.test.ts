import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { contract } from '../../src/shared/contract/index.ts'
import { isMedia } from '../../src/shared/contract/operation.ts'
import { asZod } from '../../src/shared/contract/json-schema.ts'
import { STORES } from '../support/datastores/stores.ts'
import { readDocument } from './document.ts'
import { exampleOf, shapeOf, type Recorded } from './example-recorder.ts'
import type { Running } from './loop.ts'
import { placedIn } from './placed.ts'
import { scenarios } from './scenarios/all.ts'
import { createSubject } from './subject.ts'
import { wireOf } from './rules/rule.ts'
import { exchange, signed } from './wire.ts'
import { startWorld, type World } from './world.ts'

const FILE = join(fileURLToPath(new URL('../../', import.meta.url)), 'docs/contract/examples.json')
const RECORDS = process.env['CTL_EXAMPLES'] === 'update'
const committed: Readonly<Record<string, Recorded>> = JSON.parse(readFileSync(FILE, 'utf8'))
const placed = placedIn(contract)
const [store] = STORES

/** Examples of the document are calls that a server of this build answered: `CTL_EXAMPLES=update` records them again. */
describe('the examples of the API document', () => {
  const recorded: Record<string, Recorded> = {}
  let running: Running<World> | undefined

  beforeAll(async () => {
    if (store === undefined) throw new Error('there is no datastore')
    running = await startWorld(store)
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
    for (const [status, json] of Object.entries(example.answers ?? {})) {
      expect(document.mismatch(id, Number(status), json)).toBeUndefined()
    }
    if (one.operation.body !== undefined && example.body !== undefined) {
      expect(asZod(one.operation.body).safeParse(example.body).error).toBeUndefined()
    }
    if (RECORDS) return
    expect(shapeOf(committed[id])).toEqual(shapeOf(example))
  })
})

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
