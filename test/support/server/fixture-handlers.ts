import { problem } from '../../../src/shared/problems.ts'
import type { StreamAnswer, StreamEnd, StreamSink } from '../../../src/shared/contract/operation.ts'
import { HeldResponse } from '../../../src/server/http/held/held-response.ts'
import type { Handlers, RequestContext } from '../../../src/server/http/request-context.ts'
import type { Reauthorization } from '../../../src/server/http/request-context.ts'
import type { Clock, IdSource } from '../../../src/server/ports/clock.ts'
import { settled } from '../../../src/server/http/settled.ts'
import { listPage } from '../../../src/server/http/list-page.ts'
import { openRange, type PageRange } from '../../../src/server/ports/page-range.ts'
import { HOME, OTHER_PROJECT, PROJECT } from './fixture-callers.ts'
import { RuledRequest, type fixture } from './fixture-contract.ts'

interface StoredThing {
  readonly id: string
  readonly project_id: string
  readonly slug: string
  readonly created_at: string
  /** The subject whose thing it is; nobody's by default. */
  readonly owner?: string
}

/** A stream that the fixture answered with. */
export interface Ticking {
  /** Undefined until its head is sent. */
  sink: StreamSink | undefined
  /** How it ended, each time that it was told. */
  readonly ends: StreamEnd[]
  readonly reauthorization: Reauthorization
}

export interface FixtureThings {
  /** Streams, in the order in which they were asked for. */
  readonly ticking: Ticking[]
  readonly handlers: Handlers<typeof fixture>
  readonly things: StoredThing[]
  /** What is rendered between the brackets of an array of texts. */
  parts: readonly string[]
  /** Runs inside the next handler that gets so far, before it does anything. */
  interrupt: ((ctx: RequestContext) => unknown) | undefined
}

/** Handlers over things in memory: what is under test is the edge around them. */
export function createFixture({ clock, ids }: { readonly clock: Clock; readonly ids: IdSource }): FixtureThings {
  const things: StoredThing[] = []
  const ticking: Ticking[] = []
  const self: FixtureThings = {
    things,
    ticking,
    parts: ['"one",', '"two"'],
    interrupt: undefined,
    handlers: handlersOver(),
  }

  const find = (id: string): StoredThing | undefined => things.find((thing) => thing.id === id)

  async function interrupted(ctx: RequestContext): Promise<void> {
    const { interrupt } = self
    self.interrupt = undefined
    await interrupt?.(ctx)
  }

  async function read(range: PageRange, from: readonly StoredThing[]): Promise<readonly StoredThing[]> {
    const { position: [after = ''] = [], size } = openRange(range)
    const following = from.filter(({ id }) => id > after).toSorted((a, b) => (a.id < b.id ? -1 : 1))
    return following.slice(0, size + 1)
  }

  const byId = {
    positionOf: ({ id }: StoredThing) => [id],
    toAnswer: ({ owner: _owner, ...thing }: StoredThing) => thing,
  }

  /** What fills the holes of gates over the stored thing. */
  const rowOf = ({ project_id, owner = '' }: StoredThing) => ({
    project_id,
    owner,
    domain_id: HOME,
    shown_to: 'read',
    hands_over: 'manage',
  })

  function ticksOf(reauthorization: Reauthorization): StreamAnswer {
    const one: Ticking = { sink: undefined, ends: [], reauthorization }
    ticking.push(one)
    return {
      start(sink) {
        one.sink = sink
        sink.write(Buffer.from(':tick\n\n'))
      },
      farewell: () => Buffer.from('retry: 1000\n\n'),
      ended: (how) => void one.ends.push(how),
    }
  }

  function handlersOver(): Handlers<typeof fixture> {
    return {
      GetOpenThing: () => ({ has_caller: false }),
      async CreateThing(ctx, { project_id, body }) {
        await interrupted(ctx)
        const thing = { id: ids.next(), project_id, slug: body.slug, created_at: new Date(clock.now()).toISOString() }
        await ctx.change(async (change) => {
          if (things.some((one) => one.project_id === project_id && one.slug === body.slug))
            throw problem('slug_conflict')
          const payload = { resource_id: thing.id, project_id, kind: 'vm', slug: body.slug }
          change.emit({ event: 'ResourceCreated', domainId: HOME, aggregate: `resource:${thing.id}`, payload })
          ctx.about(`resource:${thing.id}`, HOME)
        })
        things.push(thing)
        ctx.header('Location', `/v1/fixture/things/${thing.id}`)
        return thing
      },
      ListThings: (ctx) =>
        listPage(ctx, (range) => read(range, things), { ...byId, visible: ({ project_id }) => ({ project_id }) }),
      ListProjectThings: (ctx, { project_id }) =>
        listPage(
          ctx,
          (range) =>
            read(
              range,
              things.filter((thing) => thing.project_id === project_id),
            ),
          byId,
        ),
      ListOwnThings: (ctx) => listPage(ctx, (range) => read(range, things), byId),
      async GetThing(ctx, { project_id, slug }) {
        await interrupted(ctx)
        const thing = things.find((one) => one.project_id === project_id && one.slug === slug)
        if (thing === undefined) throw problem('resource_not_found')
        const revealed = await ctx.probe('reveal')
        ctx.note({ pseudonym_revealed: revealed })
        return revealed ? { ...thing, secret: 'revealed' } : thing
      },
      async GetThingByID(ctx, { id }) {
        const thing = find(id)
        await ctx.admit(thing && { project_id: thing.project_id })
        if (thing === undefined) throw problem('resource_not_found')
        return thing
      },
      GetFoldedThing: (_ctx, { project_id }) => ({ id: project_id }),
      async PatchThing(ctx, { id, body }) {
        const thing = find(id)
        await ctx.admit(thing && { project_id: thing.project_id })
        if (thing === undefined) throw problem('resource_not_found')
        const changed = { ...thing, slug: body.slug }
        things[things.indexOf(thing)] = changed
        return changed
      },
      async DeleteThing(ctx, { id }) {
        const thing = find(id)
        await interrupted(ctx)
        await ctx.admit(thing && { project_id: thing.project_id, domain_id: HOME })
        things.splice(
          things.findIndex((one) => one.id === id),
          1,
        )
      },
      async PutThingLabel(ctx, { project_id, slug }) {
        const thing = things.find((one) => one.project_id === project_id && one.slug === slug)
        await ctx.admit(thing && { domain_id: HOME })
      },
      PostThingAcknowledgement(_ctx, { id }) {
        if (find(id) === undefined) throw problem('resource_not_found')
      },
      PostDefinition: () => undefined,
      PostRuledThing(_ctx, { body }) {
        if (body.name === 'out') throw problem('resource_not_found')
        settled(RuledRequest, body)
      },
      PostTakeover(_ctx, { body }) {
        if (body.held === true) throw new HeldResponse('01935b5e-8f3a-7c61-9d0a-0000000000a1')
        return { taken: things.length }
      },
      async ArchiveThing(ctx, { id }) {
        const thing = find(id)
        const ownProject = ctx.caller.domainId === HOME ? PROJECT : OTHER_PROJECT
        await ctx.admit({ project_id: thing?.project_id ?? ownProject })
        if (thing === undefined) throw problem('resource_not_found')
        return { receipts: [{ code: `jtk_test_${id.replaceAll('-', '')}_${'x'.repeat(43)}` }] }
      },
      ListSharedThings: (ctx) => listPage(ctx, (range) => read(range, things), { ...byId, visible: rowOf }),
      async HandOverThing(ctx, { id }) {
        const thing = find(id)
        await ctx.admit(thing && rowOf(thing))
      },
      async WithdrawThing(ctx, { id }) {
        const thing = find(id)
        await ctx.admit(thing && rowOf(thing))
      },
      PostTransfer: () => ({ moved: things.length }),
      PutNodeNote: (ctx) => ({ kid: ctx.caller.credential.kid ?? '', secret_bytes: ctx.presentedSecret().length }),
      GetNodeNote: () => Buffer.from('a note'),
      PostForm: (_ctx, { body }) => body,
      async GetTicks(ctx) {
        await interrupted(ctx)
        if (ctx.requestHeader('Last-Event-ID') === 'none') throw problem('invalid_last_event_id')
        return ticksOf(ctx.reauthorization())
      },
      async GetRenderedThing(ctx) {
        await interrupted(ctx)
        ctx.header('ETag', '"rendered"')
        if (ctx.requestHeader('If-None-Match') === '"rendered"') return ctx.status(304)
        return { pieces: ['{"parts":[', ...self.parts, ']}'].map((text) => Buffer.from(text)) }
      },
      GetOldThing: () => ({ place: { shelf: 1 } }),
      PostSteppedUp: () => undefined,
      PostDoubleSubmit: () => undefined,
      PostGrant(_ctx, { body: { grant_type } }) {
        if (grant_type === 'pending') throw problem('authorization_pending')
        if (grant_type === 'away') throw problem('idp_unavailable')
        if (grant_type === 'broken') throw new Error('a fixture: broken')
        if (grant_type !== 'x') throw problem('unsupported_grant_type')
        return { token_type: 'Bearer' }
      },
      GetReturn(ctx, { state }) {
        if (state === 'unknown') throw problem('invalid_sign_in')
        ctx.cookie({ name: 'been', value: '1', path: '/v1/', sameSite: 'Lax', isHttpOnly: true })
        ctx.cookie({ name: 'gone', value: '', path: '/v1/', sameSite: 'Strict', isHttpOnly: false, maxAgeSeconds: 0 })
        ctx.status(ctx.browser.prefersHtml ? 303 : 200)
        const { isSecure, userAgent } = ctx.browser
        return { is_secure: isSecure, user_agent: userAgent, seen: ctx.browser.cookie('seen') ?? '' }
      },
    }
  }

  return self
}
