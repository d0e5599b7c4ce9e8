import { problem } from '../../../shared/problems.ts'
import type { BridgeParts } from '../../bridges/bridge-parts.ts'
import type { BridgeWorld } from '../../bridges/bridge-world.ts'
import type { Bridge } from '../../bridges/find-bridge.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { bridgeOf, changeBridge, publish, writePart, type BridgePath, type Held } from './change-bridge.ts'
import { nameOf, type PartKind, type Slugged, type Stored } from './part-kind.ts'

/** The members of a path that names a part. */
interface PartPath extends BridgePath {
  readonly slug: string
}

/** A part that takes the place of the stored one. */
interface Replacement<Value> {
  readonly value: Value
  /** The value with what it keeps of the stored parts; the value itself where absent. */
  readonly completed?: (parts: BridgeParts) => Value
}

/** The five operations of a sub-surface whose parts have slugs. */
export interface PartHandlers<Value extends Slugged> {
  readonly create: (ctx: RequestContext, path: BridgePath, value: Value) => Promise<Stored<Value>>
  readonly list: (ctx: RequestContext, path: BridgePath) => Promise<readonly Stored<Value>[]>
  readonly get: (ctx: RequestContext, path: PartPath) => Promise<Stored<Value>>
  readonly replace: (ctx: RequestContext, path: BridgePath, replacement: Replacement<Value>) => Promise<Stored<Value>>
  readonly remove: (ctx: RequestContext, path: PartPath) => Promise<void>
}

const MEMBER = {
  'user-access': 'userAccess',
  ingress: 'ingress',
  'site-to-site': 'tunnels',
} as const satisfies Record<PartKind<Slugged>['part'], keyof BridgeParts>

/** Makes the operations of one kind of parts. */
export function createPartHandlers<Value extends Slugged>(
  { datastore }: { readonly datastore: Datastore },
  kind: PartKind<Value>,
): PartHandlers<Value> {
  const { part, events, missing } = kind
  const db = () => datastore.pool('interactive')

  const holds = ({ parts }: BridgeWorld, slug: string): boolean =>
    parts[MEMBER[part]].some((stored) => stored.slug === slug)

  /** Stores the part, where it is new or in the place of the one with its slug, and publishes it. */
  async function store(held: Held, value: Value, isNew: boolean): Promise<Stored<Value>> {
    const { change, bridge, at } = held
    const row = { ...value, resource_id: bridge.resourceId, updated_at: at }
    const stored = isNew ? await kind.insert(change.db, { ...row, created_at: at }) : await kind.update(change.db, row)
    if (stored === undefined) throw new Error('a part of a locked bridge vanished')
    await kind.claim(change.db, bridge, value)
    await publish(held, { literal: events.configured, part: nameOf(part, value.slug) })
    return stored
  }

  function intentOf(value: Value, isNew: boolean) {
    return {
      candidate: kind.candidateOf(value),
      assertFits(world: BridgeWorld): void {
        if (holds(world, value.slug) === isNew) throw problem(isNew ? 'slug_conflict' : missing)
      },
      inspect: async (bridge: Bridge): Promise<void> => kind.inspect?.(bridge, value),
    }
  }

  return {
    async create(ctx, path, value) {
      const row = await writePart({ ctx, path, datastore }, intentOf(value, true), (held) => store(held, value, true))
      const { project_id, resource_id } = path
      ctx.header('Location', `/v1/projects/${project_id}/resources/${resource_id}/bridge/${part}/${value.slug}`)
      return row
    },

    async list(ctx, path) {
      const { resourceId } = await bridgeOf(ctx, db(), path)
      return kind.list(db(), resourceId)
    },

    async get(ctx, path) {
      const { resourceId } = await bridgeOf(ctx, db(), path)
      const row = await kind.find(db(), { resource_id: resourceId, slug: path.slug })
      if (row === undefined) throw problem(missing)
      return row
    },

    replace(ctx, path, { value, completed = () => value }) {
      const intent = {
        ...intentOf(value, false),
        completed: ({ parts }: BridgeWorld) => kind.candidateOf(completed(parts)),
      }
      return writePart({ ctx, path, datastore }, intent, (held, { parts }) => store(held, completed(parts), false))
    },

    async remove(ctx, path) {
      await changeBridge({ ctx, path, datastore }, async (held) => {
        const key = { resource_id: held.bridge.resourceId, slug: path.slug }
        if (!(await kind.remove(held.change.db, key))) throw problem(missing)
        await publish(held, { literal: events.removed, part: nameOf(part, path.slug) })
      })
    },
  }
}
