import { ADMIN_SESSION, NODE, OTHER_PROJECT, PROJECT, SUBJECTS } from '../support/server/fixture-callers.ts'
import { startFixture, type fixtureContract, type FixtureServer } from '../support/server/fixture-server.ts'
import type { Running } from './loop.ts'
import { createRowDigests } from './row-digests.ts'
import type { ConformanceWorld } from './rules/rule.ts'
import type { Scenarios } from './scenario.ts'
import { exchange, signed } from './wire.ts'

/** What the scenarios of the fixture contract rely on. */
export interface FixtureWorld extends ConformanceWorld {
  /** A slug that no thing has yet. */
  name(): string
  readonly projectId: string
  readonly keeper: string
  /** Whose things are owned, with their token. */
  readonly owner: { readonly subject: string; readonly credential: string }
  readonly elsewhere: Omit<FixtureWorld, 'elsewhere'>
  /** Puts a thing into the Project, perhaps as somebody's, and returns its id and slug. */
  thing(owner?: string): { readonly id: string; readonly slug: string }
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
  const thingIn =
    (project_id: string) =>
    (owner?: string): { readonly id: string; readonly slug: string } => {
      const slug = name()
      const id = `01935b5e-8f3a-7c61-9d0a-${named.toString(16).padStart(12, '0')}`
      server.fixture.things.push({
        id,
        project_id,
        slug,
        created_at: '2026-03-01T08:00:00.000Z',
        ...(owner !== undefined && { owner }),
      })
      return { id, slug }
    }
  const digests = createRowDigests(server.datastore)
  const world: Omit<FixtureWorld, 'elsewhere'> = {
    url: server.url,
    root: 'psk_admin',
    deputy: 'psk_deputy',
    outsiders: [
      { who: 'nobody', credential: 'psk_nobody', isInside: true },
      { who: 'a viewer', credential: 'psk_viewer', isInside: true },
      { who: 'an administrator of another Domain', credential: 'psk_keeper' },
      { who: 'another node', credential: 'nsk_other' },
    ],
    narrow: 'psk_narrow',
    session: ADMIN_SESSION,
    stored: async () => ({ ...(await digests()), things: JSON.stringify(server.fixture.things) }),
    audited: (correlationId) => server.audited(correlationId),
    name,
    keeper: 'psk_keeper',
    owner: { subject: SUBJECTS.deputy, credential: 'psk_deputy' },
    projectId: PROJECT,
    thing: thingIn(PROJECT),
  }
  return {
    ...world,
    elsewhere: {
      ...world,
      projectId: OTHER_PROJECT,
      owner: { subject: SUBJECTS.keeper, credential: 'psk_keeper' },
      thing: thingIn(OTHER_PROJECT),
    },
  }
}

type Fixture = typeof fixtureContract

const admin = { as: 'psk_admin', lesser: 'psk_nobody' } as const

/** A scenario for every operation of the fixture contract. */
export const fixtureScenarios: Scenarios<FixtureWorld, Fixture['fixture']> & Scenarios<FixtureWorld, Fixture['meta']> =
  {
    GetOpenThing: () => ({ input: {} }),
    CreateThing: ({ name, projectId: project_id }) => ({ input: { project_id, body: { slug: name() } }, ...admin }),
    ListThings({ thing }) {
      thing()
      return { input: { kind: 'a' }, as: 'psk_viewer' }
    },
    ListProjectThings({ thing, projectId: project_id }) {
      thing()
      return { input: { project_id }, ...admin }
    },
    ListOwnThings({ thing }) {
      thing()
      return { input: {}, ...admin }
    },
    GetThing: ({ thing, projectId: project_id }) => ({ input: { project_id, slug: thing().slug }, ...admin }),
    GetFoldedThing: ({ projectId: project_id }) => ({ input: { project_id }, ...admin, also: [{ as: 'nsk_own' }] }),
    GetThingByID: ({ thing }) => ({ input: { id: thing().id }, ...admin }),
    PatchThing: ({ thing, name }) => ({ input: { id: thing().id, body: { slug: name() } }, ...admin }),
    DeleteThing: ({ thing }) => ({ input: { id: thing().id }, ...admin, lesser: 'psk_viewer' }),
    PutThingLabel: ({ thing, projectId: project_id }) => ({
      input: { project_id, slug: thing().slug, body: { label: 'x' } },
      ...admin,
      also: [{ as: 'psk_admin', lesser: 'psk_viewer' }],
    }),
    PostThingAcknowledgement: ({ thing }) => ({ input: { id: thing().id, body: { reason: 'x' } }, ...admin }),
    PostDefinition: ({ projectId: project_id }) => ({
      input: { body: { scope: 'project', project_id } },
      ...admin,
    }),
    PostRuledThing: () => ({ input: { body: { left: 'x' } }, ...admin }),
    PostTakeover: () => ({ input: { body: {} }, ...admin }),
    ArchiveThing: ({ thing }) => ({ input: { id: thing().id }, ...admin }),
    ListSharedThings({ thing }) {
      thing()
      return { input: {}, as: 'psk_viewer' }
    },
    HandOverThing: ({ thing }) => ({ input: { id: thing().id }, ...admin, onlooker: 'psk_viewer' }),
    WithdrawThing: ({ thing, owner }) => ({
      input: { id: thing(owner.subject).id },
      as: owner.credential,
      lesser: 'psk_nobody',
      onlooker: 'psk_viewer',
    }),
    PostTransfer: ({ projectId: project_id }) => ({ input: { body: { project_id, reason: 'because' } }, ...admin }),
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
