import { ADMIN_SESSION, NODE, PROJECT } from '../support/fixture-callers.ts'
import { startFixture, type fixtureContract, type FixtureServer } from '../support/fixture-server.ts'
import type { Running } from './loop.ts'
import type { ConformanceWorld } from './rules/rule.ts'
import type { Scenarios } from './scenario.ts'
import { exchange, signed } from './wire.ts'

/** What the scenarios of the fixture contract rely on. */
export interface FixtureWorld extends ConformanceWorld {
  /** A slug that no thing has yet. */
  name(): string
  /** Puts a thing into the Project and tells its id and slug. */
  thing(): { readonly id: string; readonly slug: string }
}

/** Starts the fixture server and makes a world in it. */
export async function startFixtureWorld(): Promise<Running<FixtureWorld>> {
  const server = await startFixture()
  const { text } = await exchange(server.url, signed({ method: 'GET', path: '/v1/openapi.json' }, 'psk_nobody'))
  return { world: worldOf(server), openapi: JSON.parse(text), stop: () => server.stop() }
}

function worldOf(server: FixtureServer): FixtureWorld {
  let named = 0
  const name = (): string => `thing-${(named += 1)}`
  return {
    url: server.url,
    narrow: 'psk_narrow',
    session: ADMIN_SESSION,
    audited: (correlationId) => server.audited(correlationId),
    name,
    thing() {
      const slug = name()
      const id = `01935b5e-8f3a-7c61-9d0a-${named.toString(16).padStart(12, '0')}`
      server.fixture.things.push({ id, project_id: PROJECT, slug, created_at: '2026-03-01T08:00:00.000Z' })
      return { id, slug }
    },
  }
}

type Fixture = typeof fixtureContract

const admin = { as: 'psk_admin', lesser: 'psk_nobody' } as const

/** A scenario for every operation of the fixture contract. */
export const fixtureScenarios: Scenarios<FixtureWorld, Fixture['fixture']> & Scenarios<FixtureWorld, Fixture['meta']> =
  {
    GetOpenThing: () => ({ input: {} }),
    CreateThing: ({ name }) => ({ input: { project_id: PROJECT, body: { slug: name() } }, ...admin }),
    ListThings: () => ({ input: { kind: 'a' }, as: 'psk_viewer' }),
    ListOwnThings: () => ({ input: {}, ...admin }),
    GetThing: ({ thing }) => ({ input: { project_id: PROJECT, slug: thing().slug }, ...admin }),
    GetFoldedThing: () => ({ input: { project_id: PROJECT }, ...admin, also: [{ as: 'nsk_own' }] }),
    PatchThing: ({ thing, name }) => ({ input: { id: thing().id, body: { slug: name() } }, ...admin }),
    DeleteThing: ({ thing }) => ({ input: { id: thing().id }, ...admin, lesser: 'psk_viewer' }),
    PostTransfer: () => ({ input: { body: { project_id: PROJECT, reason: 'because' } }, ...admin }),
    PutNodeNote: () => ({ input: { id: NODE, body: { note: 'x' } }, as: 'nsk_own', lesser: 'nsk_other' }),
    GetNodeNote: () => ({ input: { id: NODE }, ...admin, also: [{ as: 'nsk_own', lesser: 'nsk_other' }] }),
    GetTicks: () => ({ input: { id: NODE }, ...admin, also: [{ as: 'nsk_own', lesser: 'nsk_other' }] }),
    GetRenderedThing: () => ({ input: { id: NODE }, ...admin, also: [{ as: 'nsk_own', lesser: 'nsk_other' }] }),
    PostForm: () => ({
      input: { body: { grant_type: 'x' } },
      as: 'psk_nobody',
      also: [{ as: ADMIN_SESSION }],
    }),
    GetOldThing: () => ({ input: {}, ...admin }),
    PostDoubleSubmit: () => ({ input: {}, as: ADMIN_SESSION }),
    PostGrant: () => ({ input: { body: { grant_type: 'x' } } }),
    GetReturn: () => ({ input: { state: 'x' } }),
    PostSteppedUp: () => ({ input: {}, as: 'psk_nobody' }),
    GetOpenapi: () => ({ input: {}, as: 'psk_nobody', also: [{ as: 'nsk_own' }] }),
    GetDocs: () => ({ input: {} }),
    GetDocsAsset: () => ({ input: { asset: 'redoc.standalone.js' } }),
  }
