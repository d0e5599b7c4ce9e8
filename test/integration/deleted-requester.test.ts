import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startFleet, type Fleet } from '../support/fleet/fleet.ts'
import { meet, places, statementsOf } from '../support/run/meeting.ts'
import { pausingDatastore } from '../support/datastores/pausing-datastore.ts'
import { STORES } from '../support/datastores/stores.ts'

describe.each(STORES)('A service identity that asks nodes for something on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    const pausing = pausingDatastore()
    let fleet: Fleet
    let domain: string
    let project: string
    let nodeId: string
    beforeAll(async () => {
      fleet = await startFleet(
        { ...store, open: async () => pausing.over(await store.open()) },
        { surfaces: ['executions', 'mediatedSessions', 'identities'] },
      )
      domain = await fleet.domain()
      project = await fleet.project(domain)
      nodeId = (await fleet.enrol(domain)).node_id
    })
    afterAll(() => fleet?.stop())

    async function requester(): Promise<string> {
      const subject = await fleet.principal(domain, 'service-identity')
      const tuple = { subject, relation: 'admin', resource: `domain:${domain}` }
      await fleet.change(({ tuples }) => tuples.create(tuple, { domainId: domain, projectId: null }))
      return subject
    }

    const remove = async (subject: string) =>
      (await fleet.call(fleet.root, `DELETE /v1/domains/${domain}/service-identities/${subject.split(':')[1]}`)).status
    const execute = async (as: string) =>
      (await fleet.call(as, `POST /v1/nodes/${nodeId}/executions`, { action: 'ping', type: 'builtin' })).status
    const openSession = async (as: string) => {
      const body = { node_id: nodeId, kind: 'ssh', target: 'deploy' }
      return (await fleet.call(as, `POST /v1/projects/${project}/sessions`, body)).status
    }

    it.each([
      ['an execution', execute],
      ['a mediated session', openSession],
    ])('is not deleted while %s is being stored, and stores none once deleted', async (_, ask) => {
      const outcomes = [
        [201, 409],
        [401, 204],
        [403, 204],
        [404, 204],
      ]
      const sample = await requester()
      const ofAsking = await statementsOf(pausing, async () => expect(await ask(sample)).toBe(201))
      const ofDeletion = await statementsOf(pausing, async () => remove(await requester()))
      for (const behind of places(ofAsking)) {
        const subject = await requester()
        const paths = { first: () => ask(subject), second: () => remove(subject) }
        expect(outcomes).toContainEqual(await meet(pausing, behind, paths))
      }
      for (const behind of places(ofDeletion)) {
        const subject = await requester()
        const paths = { first: () => remove(subject), second: () => ask(subject) }
        expect(outcomes).toContainEqual((await meet(pausing, behind, paths)).toReversed())
      }
      expect(pausing.repeated, 'victims of a deadlock').toBe(0)
    })
  })
})
