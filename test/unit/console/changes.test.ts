import { describe, expect, test } from 'vitest'
import { createApi } from '../../../src/console/api/client.ts'
import { readFleet, type FleetRead } from '../../../src/console/api/read-fleet.ts'
import type { NodeSummary } from '../../../src/console/api/operations.ts'
import { NO_CHANGES, withAll, withChanges } from '../../../src/console/model/changes.ts'
import type { SeenEvent } from '../../../src/console/model/domain-event.ts'

const eventOf = (type: string, object: string, id = '1'): SeenEvent => ({ id, type, object, at: '', change: '' })

describe('changes', () => {
  test.each([
    ['node.registered', 'node:1', ['nodes', 'mesh', 'events']],
    ['approval.requested', 'approval:1', ['approvals', 'events']],
    ['integrity.opened', 'integrity_violation:1', ['violations', 'events']],
    ['execution.requested', 'node:2', ['shown-node', 'events']],
    ['node.renamed', 'node:2', ['nodes', 'shown-node', 'mesh', 'events']],
    ['project.updated', 'project:1', ['events']],
    ['something.later', 'thing:1', ['events']],
  ])('%s of %s concerns %j alone', (type, object, topics) => {
    const changes = withChanges(NO_CHANGES, [eventOf(type, object)], '2')
    const raised = Object.entries(changes).flatMap(([topic, count]) => (count === 0 ? [] : [topic]))
    expect(raised).toEqual(Object.keys(NO_CHANGES).filter((topic) => topics.includes(topic)))
  })

  test('events that the server left out may concern everything', () => {
    expect(withChanges(NO_CHANGES, [eventOf('stream.resync', 'domain:1')], undefined)).toEqual(withAll(NO_CHANGES))
  })
})

describe('the nodes after events', () => {
  const nodeOf = (at: number): NodeSummary => ({ id: `n${at}`, display_name: `node-${at}` }) as NodeSummary
  const nodes = Array.from({ length: 401 }, (_, at) => nodeOf(at))
  const former: FleetRead = { nodes, requests: 3, lastEventId: '1', resyncs: 0 }
  const known = eventOf('node.renamed', 'node:n9', '1')

  /** Reads after these events, on a server that has renamed `n2` and where `n3` has left. Returns the paths that were asked for. */
  async function read(events: readonly SeenEvent[], resyncs = 0) {
    const asked: string[] = []
    const api = createApi({
      fetch: async (url) => {
        const path = (typeof url === 'string' ? url : '').replace(/\?.*/, '')
        asked.push(path)
        if (path === '/v1/nodes/n3') return Response.json({ code: 'node_not_found' }, { status: 404 })
        return Response.json(path === '/v1/nodes' ? { items: [] } : { id: path.slice(10), display_name: 'renamed' })
      },
      cookies: () => '',
      onSignedOut: () => undefined,
    })
    const answer = await readFleet(api, { domainId: 'd', former, events, resyncs }, new AbortController().signal)
    return { asked, answer }
  }

  test('are those before with the ones that events name, where that takes fewer requests', async () => {
    const events = [known, eventOf('node.renamed', 'node:n2', '2'), eventOf('node.deregistered', 'node:n3', '3')]
    const { asked, answer } = await read([...events, eventOf('project.updated', 'project:1', '4')])
    expect(asked.toSorted()).toEqual(['/v1/nodes/n2', '/v1/nodes/n3'])
    expect([answer.nodes.length, answer.requests, answer.lastEventId]).toEqual([400, 2, '4'])
    expect(answer.nodes.find(({ id }) => id === 'n2')?.display_name).toBe('renamed')
    expect(answer.nodes.some(({ id }) => id === 'n3')).toBe(false)
  })

  test('have new ones at the end', async () => {
    const { answer } = await read([known, eventOf('node.registered', 'node:new', '2')])
    expect(answer.nodes.at(-1)?.id).toBe('new')
  })

  test.each([
    [
      'as many nodes changed as there are pages',
      ['a', 'b', 'c'].map((id) => eventOf('node.renamed', `node:${id}`, id)),
      0,
    ],
    ['the last event is not known any more', [], 0],
    ['a label of a Project changed', [eventOf('labels.changed', 'project:1', '2')], 0],
    ['the server left events out', [eventOf('node.renamed', 'node:n2', '2')], 1],
  ])('are read again where %s', async (_, events, resyncs) => {
    const { asked } = await read(
      events.length === 0 ? [eventOf('node.renamed', 'node:n2', '2')] : [known, ...events],
      resyncs,
    )
    expect(asked).toEqual(['/v1/nodes'])
  })
})
