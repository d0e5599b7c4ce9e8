import type { SeenEvent } from './domain-event.ts'

/** What a view reads, by the events after which it reads again. */
export type Topic = 'nodes' | 'shown-node' | 'mesh' | 'approvals' | 'violations' | 'capacity' | 'events' | 'unknown'

/**
 * A counter for each topic. A view reads again when one of its topics has another count. `events` counts with every event, `unknown` where
 * it is not known what changed.
 */
export type Changes = Readonly<Record<Topic, number>>

export const NO_CHANGES: Changes = {
  nodes: 0,
  'shown-node': 0,
  mesh: 0,
  approvals: 0,
  violations: 0,
  capacity: 0,
  events: 0,
  unknown: 0,
}

/** By the first part of the type of an event. Other events change nothing but the audit. */
const TOPICS: Readonly<Record<string, readonly Topic[]>> = {
  node: ['nodes', 'mesh'],
  labels: ['nodes'],
  mesh: ['mesh'],
  bridge: ['mesh'],
  approval: ['approvals'],
  integrity: ['violations'],
  capacity: ['capacity'],
}

/** Stands for events that the server left out: anything may have changed. */
const RESYNC = 'stream.resync'

/** Counts events; `nodeId` is that of the node whose page is open. */
export function withChanges(changes: Changes, events: readonly SeenEvent[], nodeId: string | undefined): Changes {
  if (events.some(({ type }) => type === RESYNC)) return withAll(changes)
  const topics = new Set(events.flatMap((event) => topicsOf(event, nodeId)))
  return raised(changes, [...topics])
}

/** Counts a change of which it is not known what it changed. */
export const withAll = (changes: Changes): Changes => raised(changes, Object.keys(changes) as Topic[])

function topicsOf({ type, object }: SeenEvent, nodeId: string | undefined): readonly Topic[] {
  const topics = TOPICS[type.split('.', 1)[0] ?? ''] ?? []
  const isOfShown = nodeId !== undefined && object === `node:${nodeId}`
  return ['events', ...topics, ...(isOfShown ? (['shown-node'] as const) : [])]
}

const raised = (changes: Changes, topics: readonly Topic[]): Changes => ({
  ...changes,
  ...Object.fromEntries(topics.map((topic) => [topic, changes[topic] + 1])),
})
