import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Enrolled } from '../../support/fleet/fleet.ts'
import { startObservedFleet, type ObservedFleet } from '../../support/fleet/observed-fleet.ts'
import { STORES } from '../../support/datastores/stores.ts'

describe.each(STORES)('State reports on the $name store', (store) => {
  describe.skipIf(store.missing)('of a node', () => {
    let fleet: ObservedFleet
    let domain: string
    let node: Enrolled
    beforeAll(async () => {
      fleet = await startObservedFleet(store)
      domain = await fleet.domain()
    })
    beforeEach(async () => {
      node = await fleet.enrol(domain)
    })
    afterAll(() => fleet.stop())

    const path = (key: string) => `/v1/nodes/${node.node_id}/state/reports/${key}`
    const put = (key: string, value: unknown) => fleet.call(node.nsk, `PUT ${path(key)}`, { value })
    const putText = (key: string, text: string) => fleet.send(node.nsk, `PUT ${path(key)}`, text)
    const remove = (key: string) => fleet.call(node.nsk, `DELETE ${path(key)}`)
    const stored = async (of = node.node_id) =>
      Object.fromEntries(
        (
          await fleet.db.selectFrom('node_state_reports').selectAll().where('node_id', '=', of).orderBy('key').execute()
        ).map(({ key, value }) => [key, value]),
      )
    const revisions = async () => {
      const row = await fleet.db
        .selectFrom('node_heartbeats')
        .select(['node_revision', 'pulled_node_revision'])
        .where('node_id', '=', node.node_id)
        .executeTakeFirstOrThrow()
      return [Number(row.node_revision), row.pulled_node_revision && Number(row.pulled_node_revision)]
    }

    it('are kept in canonical form under their key, and no event tells of them', async () => {
      const peers = await fleet.revision(domain)
      const answer = await put('disk.free', { percent: 12, at: [1.0, 'ü'] })
      expect(answer).toMatchObject({ status: 200 })
      expect(answer.body).toEqual({ key: 'disk.free', accepted_at: fleet.instant(0) })
      await put('disk.free', { b: 1, a: null })
      await put('a', null)
      expect(await stored()).toEqual({ a: 'null', 'disk.free': '{"a":null,"b":1}' })
      expect(await fleet.outbox(answer)).toEqual([])
      expect(await fleet.revision(domain)).toBe(peers)
      expect(await fleet.audit(answer)).toMatchObject({
        relation: 'node_state_report.put',
        object: `node:${node.node_id}`,
        outcome: 'granted',
        domainId: domain,
      })
    })

    it('raise the revision of the node’s own state where they say something else, and leave it pulled', async () => {
      expect(await revisions()).toEqual([1, null])
      await put('k', 1)
      await put('k', 1)
      expect(await revisions()).toEqual([2, null])
      await sql`update node_heartbeats set pulled_node_revision = 2 where node_id = ${node.node_id}`.execute(fleet.db)
      await put('k', 2)
      expect(await revisions()).toEqual([3, 3])
      await remove('k')
      expect(await revisions()).toEqual([4, 4])
      await sql`update node_heartbeats set pulled_node_revision = 1 where node_id = ${node.node_id}`.execute(fleet.db)
      await put('k', 2)
      expect(await revisions()).toEqual([5, 1])
    })

    it('are deleted once', async () => {
      await put('k', 1)
      const answer = await remove('k')
      expect(answer.status).toBe(204)
      expect(await stored()).toEqual({})
      expect(await fleet.audit(answer)).toMatchObject({ relation: 'node_state_report.delete', outcome: 'granted' })
      const before = await revisions()
      const again = await remove('k')
      expect(again).toMatchObject({ status: 404, body: { code: 'report_not_found' } })
      expect(await fleet.audit(again)).toMatchObject({ outcome: 'not_found', reason: 'report_not_found' })
      expect(await revisions()).toEqual(before)
    })

    it.each(['a', 'mesh.edge-epochs', 'a_b-c.d0', `a${'b'.repeat(127)}`])('take the key %s', async (key) => {
      expect(await put(key, 1)).toMatchObject({ status: 200, body: { key } })
    })

    it.each(['A', '0', '.a', 'a%20b', 'a%2Fb', 'a:b', `a${'b'.repeat(128)}`, `a${'b'.repeat(10_000)}`, 'a%0A'])(
      'refuse the key %s, to put and to delete',
      async (key) => {
        expect(await put(key, 1)).toMatchObject({ status: 400, body: { code: 'invalid_report' } })
        expect(await remove(key)).toMatchObject({ status: 400, body: { code: 'invalid_report' } })
        expect(await stored()).toEqual({})
      },
    )

    it('take 4,096 bytes of canonical JSON, however long they were sent', async () => {
      const value = 'x'.repeat(4_094)
      expect(await putText('k', `{"value":   ${JSON.stringify(value)}}`)).toMatchObject({ status: 200 })
      expect(await put('k', `${value}y`)).toMatchObject({ status: 400, body: { code: 'invalid_report' } })
      expect(await stored()).toEqual({ k: JSON.stringify(value) })
    })

    it.each([
      ['a number beyond a double', '{"value":1e999}', 'invalid_report'],
      ['brackets without end', `{"value":${'['.repeat(16_000)}${']'.repeat(16_000)}}`, 'invalid_report'],
      ['a lone surrogate', '{"value":"\\ud800"}', 'invalid_body'],
      ['a NUL', '{"value":"\\u0000"}', 'invalid_body'],
      ['a member __proto__', '{"value":{"__proto__":1}}', 'invalid_body'],
      ['no value', '{}', 'invalid_body'],
      ['no JSON', '{"value":', 'invalid_body'],
      ['an unknown member', '{"value":1,"ttl":5}', 'invalid_body'],
    ])('refuse %s, and keep what is there', async (_what, text, code) => {
      await put('k', 'kept')
      expect(await putText('k', text)).toMatchObject({ status: 400, body: { code } })
      expect(await stored()).toEqual({ k: '"kept"' })
    })

    it('have a body of 32 KiB at most', async () => {
      expect(await putText('k', '{"value":1}'.padEnd(32 * 1024))).toMatchObject({ status: 200 })
      expect(await putText('k', '{"value":1}'.padEnd(32 * 1024 + 1))).toMatchObject({
        status: 413,
        body: { code: 'request_body_too_large' },
      })
    })

    it('are 64 at most, whoever comes first, and those that are there can be replaced', async () => {
      for (let n = 0; n < 60; n++) await fill(`old-${n}`)
      const before = await revisions()
      const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => put(`new-${n}`, n)))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(4)
      for (const { status, body } of answers.filter((answer) => answer.status !== 200))
        expect([status, body['code']]).toEqual([409, 'report_limit_exceeded'])
      expect(Object.keys(await stored())).toHaveLength(64)
      expect(await revisions()).toEqual([Number(before[0]) + 4, null])
      expect(await put('old-0', 'replaced')).toMatchObject({ status: 200 })
      expect(await remove('old-1')).toMatchObject({ status: 204 })
      expect(await put('one-more', 1)).toMatchObject({ status: 200 })
      expect(await put('too-much', 1)).toMatchObject({ status: 409 })
    })

    it('are the node’s alone', async () => {
      await put('k', 1)
      const other = await fleet.enrol(domain)
      for (const [operation, relation] of [
        [`PUT ${path('k')}`, 'node_state_report.put'],
        [`DELETE ${path('k')}`, 'node_state_report.delete'],
      ] as const) {
        const answer = await fleet.call(other.nsk, operation, operation.startsWith('PUT') ? { value: 2 } : undefined)
        expect(answer).toMatchObject({ status: 403, body: { code: 'node_id_mismatch' } })
        expect(await fleet.audit(answer)).toMatchObject({
          relation,
          outcome: 'permission_denied',
          reason: 'node_id_mismatch',
        })
        expect(await fleet.call(fleet.root, operation, undefined)).toMatchObject({
          status: 401,
          body: { code: 'unauthorized' },
        })
      }
      expect(await stored()).toEqual({ k: '1' })
    })

    it('are refused from a node that is gone', async () => {
      await put('k', 1)
      await fleet.db.deleteFrom('nodes').where('id', '=', node.node_id).execute()
      for (const answer of [await put('k', 2), await remove('k')])
        expect(answer).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
    })

    it('meet heartbeats and a deregistration of the same node without failing', async () => {
      const nodes = [node, await fleet.enrol(domain), await fleet.enrol(domain)]
      const answers = await Promise.all(
        nodes.flatMap((each) => [
          ...Array.from({ length: 4 }, (_, n) =>
            fleet.call(each.nsk, `PUT /v1/nodes/${each.node_id}/state/reports/k${n}`, { value: n }),
          ),
          fleet.beat(each),
          fleet.call(fleet.root, `DELETE /v1/nodes/${each.node_id}`),
        ]),
      )
      expect(answers.map(({ status }) => status).filter((status) => ![200, 204, 401].includes(status))).toEqual([])
    })

    function fill(key: string) {
      return fleet.db
        .insertInto('node_state_reports')
        .values({ node_id: node.node_id, key, value: '0', updated_at: new Date(fleet.clock.nowMs) })
        .execute()
    }
  })
})
