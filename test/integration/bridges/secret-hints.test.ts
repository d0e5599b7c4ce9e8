import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { storeNamingBridge } from '../../support/bridges/naming-bridge.ts'
import type { LeaderParts } from '../../support/datastores/leading.ts'
import { STORES, useDatastore } from '../../support/datastores/stores.ts'
import { leadRelay } from '../../support/events/relay-with-leader.ts'
import { idOf, storeBridge, type RelayWorld } from '../../support/events/relay-world.ts'
import { startFleet, type Enrolled, type Fleet } from '../../support/fleet/fleet.ts'

const NOW = Date.parse('2026-03-10T08:00:00.000Z')
const [A, B, C] = [idOf(0xa), idOf(0xb), idOf(0xc)]
const PROJECT = idOf(0xabc)
const [ONE, OTHER] = [idOf(0x51), idOf(0x52)]
const HINT = ['node_state_updated', { reason: 'changed', blocks: ['bridge'], peers: [] }]

const written = (name: string, project = PROJECT) =>
  ['SecretVersionCreated', { secret_id: idOf(0x99), project_id: project, name, version: 2 }] as const

describe.each(STORES)('A new version of a secret on the $name store', (store) => {
  describe.skipIf(store.missing)('with a leader', () => {
    const inUse = useDatastore(store)
    let parts: LeaderParts
    let world: RelayWorld

    beforeEach(async () => {
      const nodes = [A, B, C].map((id) => ({ id }))
      ;({ parts, world } = await leadRelay({ datastore: inUse.current(), nowMs: NOW, nodes }))
      await storeBridge(inUse.current(), { resourceId: ONE, config: '{}', hosts: [A, B] })
      await storeBridge(inUse.current(), { resourceId: OTHER, config: '{}', hosts: [B, C] })
      return () => parts.feed.stop()
    })

    const name = async (resourceId: string, owner: string, secret: string, version: number | null = null) => {
      const row = { resource_id: resourceId, owner, project_id: PROJECT, name: secret, version }
      await inUse.current().pool('interactive').insertInto('bridge_secret_refs').values(row).execute()
    }
    const received = () => [A, B, C].map(world.received)

    test('is hinted to the hosts of the bridges that name the secret without a version, once each', async () => {
      await name(ONE, 'site-to-site/a', 'key')
      await name(ONE, 'site-to-site/b', 'key')
      await name(OTHER, 'site-to-site/a', 'key')
      await world.emit(written('key'))
      await world.settle()
      expect(received()).toEqual([[HINT], [HINT], [HINT]])
      expect(world.poison).toEqual([])
    })

    test('is not hinted where a version is named, or a secret of another name or Project', async () => {
      await name(ONE, 'site-to-site/a', 'key', 1)
      await name(OTHER, 'site-to-site/a', 'other')
      await world.emit(written('key'), written('other', idOf(0xdef)), written('third'))
      await world.settle()
      expect(received()).toEqual([[], [], []])
    })

    test('is merged with the changes of the same second', async () => {
      await name(OTHER, 'ingress/a', 'key')
      await world.emit(written('key'))
      await world.settle()
      parts.clock.nowMs = NOW + 400
      await world.emit(written('key'), written('key'), ['rotate_keys', { node_id: C }])
      await world.settle()
      parts.clock.nowMs = NOW + 1_000
      await world.settle()
      const both = ['node_state_updated', { reason: 'changed', blocks: ['bridge', 'keys'], peers: [] }]
      expect(received()).toEqual([[], [HINT, HINT], [HINT, both]])
    })

    test('finds the hosts of the moment: those that left receive nothing', async () => {
      await name(ONE, 'site-to-site/a', 'key')
      await world.emit(written('key'))
      await storeBridge(inUse.current(), { resourceId: ONE, config: '{}', hosts: [C] })
      await world.settle()
      expect(received()).toEqual([[], [], [HINT]])
    })

    test('of several secrets at once is one hint a host', async () => {
      for (let index = 0; index < 20; index += 1) await name(ONE, `site-to-site/t${index}`, `key-${index}`)
      await world.emit(...Array.from({ length: 20 }, (_, index) => written(`key-${index}`, PROJECT)))
      await world.settle()
      expect(received()).toEqual([[HINT], [HINT], []])
    })
  })

  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: Fleet
    let host: Enrolled
    let projectId: string

    beforeAll(async () => {
      fleet = await startFleet(store, { surfaces: ['secrets', 'nodeState'] })
      const domainId = await fleet.domain('acme')
      projectId = await fleet.project(domainId, 'edge')
      host = await fleet.enrol(domainId)
      const place = { resourceId: idOf(0x77), domainId, projectId, hosts: [host.node_id] }
      await storeNamingBridge(fleet.db, { ...place, refs: ['secret:acme/edge/key'] })
    })
    afterAll(() => fleet?.stop())

    const pull = async () => {
      const headers = { authorization: `Bearer ${host.nsk}` }
      const response = await fetch(`${fleet.url}/v1/nodes/${host.node_id}/state`, { headers })
      return [response.status, response.headers.get('etag'), await response.text()] as const
    }

    test('leaves the bytes of the hosts’ state as they are', async () => {
      const before = await pull()
      expect(before).toMatchObject([200, /./, /secret:acme\/edge\/key/])
      for (const value of ['one', 'two']) {
        const answer = await fleet.call(fleet.root, `PUT /v1/projects/${projectId}/secrets/key`, { value })
        expect(answer.status).toBe(200)
      }
      expect(await pull()).toEqual(before)
    })
  })
})
