import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CHECKSUM, freshPublicKey, type Enrolled } from '../../support/fleet/fleet.ts'
import { ALTERED, startTriagedFleet, type TriagedFleet } from '../../support/fleet/triaged-fleet.ts'
import { STORES } from '../../support/datastores/stores.ts'

const MINUTE_MS = 60_000
/** Of `CHECKSUM`, as `ssh-keygen -l` prints it. */
const FINGERPRINT = `SHA256:${Buffer.from(CHECKSUM, 'hex').toString('base64').replace('=', '')}`

describe.each(STORES)('The resolution of integrity violations on the $name store', (store) => {
  describe.skipIf(store.missing)('by the leader', () => {
    let fleet: TriagedFleet
    let domain: string
    let node: Enrolled
    let startMs: number
    beforeAll(async () => {
      fleet = await startTriagedFleet(store)
      startMs = fleet.clock.nowMs
      domain = await fleet.domain()
    })
    beforeEach(async () => {
      fleet.clock.nowMs = startMs
      await fleet.db.deleteFrom('node_integrity_violations').execute()
      node = await fleet.enrol(domain)
    })
    afterAll(() => fleet.stop())

    const statusOf = async (id: string) => (await fleet.shown(id))['status']

    async function acknowledged(members?: Readonly<Record<string, unknown>>): Promise<string> {
      const id = await fleet.violation(node, members)
      await fleet.acknowledge(fleet.root, id)
      return id
    }

    it('needs an acknowledgement, before or after the node reported the expected value', async () => {
      const id = await fleet.violation(node)
      fleet.wait(2 * MINUTE_MS)
      await fleet.beat(node)
      await fleet.resolve()
      expect(await statusOf(id)).toBe('open')
      await fleet.acknowledge(fleet.root, id)
      await fleet.resolve()
      expect(await fleet.shown(id)).toMatchObject({
        status: 'resolved',
        resolved_at: new Date(startMs + 2 * MINUTE_MS).toISOString(),
        acknowledge_reason: 'Replaced by hand.',
      })
    })

    it('is announced and audited, in the chain of the Domain', async () => {
      const id = await acknowledged()
      fleet.wait(2 * MINUTE_MS)
      await fleet.beat(node)
      expect(await fleet.resolve()).toBe(false)
      const reference = `integrity_violation:${id}`
      const event = fleet.db.selectFrom('outbox').selectAll().where('aggregate', '=', reference).orderBy('id', 'desc')
      expect(await event.executeTakeFirst()).toMatchObject({
        event: 'IntegrityViolationResolved',
        domain_id: domain,
        payload: { violation_id: id, node_id: node.node_id, kind: 'binary', cause: 'expected_value_reported' },
      })
      const row = fleet.db
        .selectFrom('audit')
        .selectAll()
        .where('object', '=', reference)
        .where('relation', '=', 'integrity_violation.resolve')
      expect(await row.execute()).toMatchObject([
        {
          subject: 'system:integrity-monitor',
          outcome: 'granted',
          reason: 'expected_value_reported',
          domain_id: domain,
          context: { node_id: node.node_id, kind: 'binary' },
        },
      ])
      await fleet.resolve()
      expect(await row.execute()).toHaveLength(1)
    })

    it('waits until the node lives on for two minutes without repeating it', async () => {
      const id = await acknowledged()
      fleet.wait(1)
      await fleet.beat(node)
      fleet.wait(2 * MINUTE_MS - 2)
      await fleet.resolve()
      expect(await statusOf(id)).toBe('acknowledged')
      await fleet.report(node)
      fleet.wait(1)
      await fleet.beat(node)
      await fleet.resolve()
      expect(await fleet.shown(id)).toMatchObject({ status: 'acknowledged', occurrences: 2 })
      fleet.wait(2 * MINUTE_MS - 1)
      await fleet.resolve()
      expect(await statusOf(id)).toBe('acknowledged')
      await fleet.beat(node)
      await fleet.resolve()
      expect(await statusOf(id)).toBe('resolved')
    })

    it('does not follow where the node is silent altogether', async () => {
      const id = await acknowledged()
      fleet.wait(1)
      await fleet.beat(node)
      fleet.wait(10 * MINUTE_MS)
      await fleet.resolve()
      expect(await statusOf(id)).toBe('acknowledged')
    })

    it.each([
      ['a heartbeat with another checksum', async () => fleet.beat(node, { binary_checksum: ALTERED })],
      ['capabilities with another checksum', async () => fleet.capabilities(node, { binary_checksum: ALTERED })],
      [
        'capabilities with the expected checksum before a heartbeat with another one',
        async () => {
          await fleet.capabilities(node)
          fleet.wait(1)
          await fleet.beat(node, { binary_checksum: ALTERED })
        },
      ],
      [
        'a heartbeat with the expected checksum before capabilities with another one',
        async () => {
          await fleet.beat(node)
          fleet.wait(1)
          await fleet.capabilities(node, { binary_checksum: ALTERED })
        },
      ],
      ['nothing', async () => undefined],
    ])('does not follow from %s', async (_what, act) => {
      await fleet.beat(node)
      const id = await acknowledged()
      fleet.wait(1)
      await act()
      fleet.wait(10 * MINUTE_MS)
      await fleet.resolve()
      expect(await statusOf(id)).toBe('acknowledged')
    })

    it('does not follow from what the node reported before', async () => {
      await fleet.capabilities(node, {
        ssh_host_key_fingerprint: FINGERPRINT,
        hooks: [{ name: 'backup', checksum: CHECKSUM }],
      })
      await fleet.beat(node)
      const all = [
        await acknowledged(),
        await acknowledged({ kind: 'hook', artifact: 'backup' }),
        await acknowledged({ kind: 'host_key', artifact: 'ed25519' }),
      ]
      fleet.wait(10 * MINUTE_MS)
      await fleet.resolve()
      for (const id of all) expect(await statusOf(id)).toBe('acknowledged')
    })

    it('takes a binary from capabilities as well', async () => {
      const id = await acknowledged()
      fleet.wait(1)
      await fleet.beat(node, { binary_checksum: ALTERED })
      fleet.wait(2 * MINUTE_MS)
      await fleet.beat(node, { binary_checksum: ALTERED })
      fleet.wait(1)
      await fleet.capabilities(node)
      await fleet.resolve()
      expect(await statusOf(id)).toBe('resolved')
    })

    it('takes hooks and host keys from capabilities, each by its own value', async () => {
      const hook = await acknowledged({ kind: 'hook', artifact: 'backup' })
      const otherHook = await acknowledged({ kind: 'hook', artifact: 'restore' })
      const hostKey = await acknowledged({ kind: 'host_key', artifact: 'ed25519' })
      const otherKey = await acknowledged({ kind: 'host_key', artifact: 'rsa', expected_checksum: ALTERED })
      fleet.wait(1)
      await fleet.capabilities(node, {
        ssh_host_key_fingerprint: FINGERPRINT,
        hooks: [
          { name: 'backup', checksum: CHECKSUM },
          { name: 'restore', checksum: ALTERED },
        ],
      })
      fleet.wait(2 * MINUTE_MS)
      await fleet.beat(node)
      await fleet.resolve()
      expect([await statusOf(hook), await statusOf(otherHook)]).toEqual(['resolved', 'acknowledged'])
      expect([await statusOf(hostKey), await statusOf(otherKey)]).toEqual(['resolved', 'acknowledged'])
    })

    it('follows the checksum that the node expects now, and never takes one that is not known', async () => {
      const upgraded = await acknowledged()
      const unknown = await acknowledged({ artifact: '/usr/bin/other', expected_checksum: undefined })
      await fleet.report(node, { expected_checksum: 'ee'.repeat(32) })
      fleet.wait(1)
      fleet.wait(2 * MINUTE_MS)
      await fleet.beat(node, { binary_checksum: 'ee'.repeat(32) })
      await fleet.resolve()
      expect([await statusOf(upgraded), await statusOf(unknown)]).toEqual(['resolved', 'acknowledged'])
    })

    it('follows at once when the node left', async () => {
      const [id, open] = [await acknowledged(), await fleet.violation(node, { artifact: '/usr/bin/other' })]
      await fleet.call(fleet.root, `DELETE /v1/nodes/${node.node_id}`)
      await fleet.resolve()
      expect([await statusOf(id), await statusOf(open)]).toEqual(['resolved', 'open'])
      expect(await reasons()).toEqual(['node_left'])
      await fleet.acknowledge(fleet.root, open)
      await fleet.resolve()
      expect(await statusOf(open)).toBe('resolved')
    })

    it('follows at once when the node was enrolled again, unless it reports the violation after that', async () => {
      const id = await acknowledged()
      const lasting = await acknowledged({ artifact: '/usr/bin/other' })
      fleet.wait(1)
      const again = await enrolledAgain()
      fleet.wait(1)
      await fleet.report(again, { artifact: '/usr/bin/other' })
      await fleet.resolve()
      expect([await statusOf(id), await statusOf(lasting)]).toEqual(['resolved', 'acknowledged'])
      expect(await reasons()).toEqual(['node_enrolled_again'])
    })

    it('does not follow when only the key of the node was rotated', async () => {
      const id = await acknowledged()
      fleet.wait(1)
      await fleet.call(fleet.root, `POST /v1/nodes/${node.node_id}/nsk/rotate`)
      fleet.wait(10 * MINUTE_MS)
      await fleet.resolve()
      expect(await statusOf(id)).toBe('acknowledged')
    })

    it('is undone by no report: a later one opens another violation of the same artifact', async () => {
      const id = await acknowledged()
      fleet.wait(2 * MINUTE_MS)
      await fleet.beat(node)
      await fleet.resolve()
      fleet.wait(1)
      const reopened = await fleet.violation(node)
      expect(reopened).not.toBe(id)
      const [first, second] = [await fleet.shown(id), await fleet.shown(reopened)]
      expect([first['status'], second['status']]).toEqual(['resolved', 'open'])
      expect(second['artifact_id']).toBe(first['artifact_id'])
      expect(first['occurrences']).toBe(1)
      await fleet.resolve()
      expect(await statusOf(reopened)).toBe('open')
    })

    it('examines many acknowledged violations in passes of 500, and begins again after the last', async () => {
      await fill(700)
      const id = await acknowledged()
      expect(await fleet.resolve()).toBe(true)
      fleet.wait(2 * MINUTE_MS)
      await fleet.beat(node)
      expect(await fleet.resolve()).toBe(false)
      expect(await statusOf(id)).toBe('resolved')
      const other = await acknowledged({ artifact: '/usr/bin/other' })
      expect(await fleet.resolve()).toBe(true)
      fleet.wait(2 * MINUTE_MS)
      await fleet.beat(node)
      expect(await fleet.resolve()).toBe(false)
      expect(await statusOf(other)).toBe('resolved')
    })

    it('leaves artifacts until no violation names them', async () => {
      const artifacts = async () => {
        const rows = fleet.db.selectFrom('integrity_artifacts').select('artifact').where('domain_id', '=', fresh)
        return (await rows.orderBy('artifact').execute()).map(({ artifact }) => artifact)
      }
      const fresh = await fleet.domain()
      node = await fleet.enrol(fresh)
      await fleet.violation(node, { artifact: '/a' })
      const gone = await fleet.violation(node, { artifact: '/b' })
      await fleet.db.deleteFrom('node_integrity_violations').where('id', '=', gone).execute()
      expect(await artifacts()).toEqual(['/a', '/b'])
      expect(await fleet.runJob('unused-integrity-artifacts')).toBe(false)
      expect(await artifacts()).toEqual(['/a'])
      await fleet.violation(node, { artifact: '/b' })
      await fleet.runJob('unused-integrity-artifacts')
      expect(await artifacts()).toEqual(['/a', '/b'])
    })

    it('keeps its meaning while reports, acknowledgements and passes meet', async () => {
      fleet.wait(10 * MINUTE_MS)
      for (let round = 0; round < 10; round++) {
        const id = await acknowledged({ artifact: `/usr/bin/${round}` })
        fleet.wait(2 * MINUTE_MS)
        await fleet.beat(node)
        const [answer] = await Promise.all([
          fleet.report(node, { artifact: `/usr/bin/${round}` }),
          fleet.resolve(),
          fleet.acknowledge(fleet.root, id),
        ])
        expect(answer.status).toBe(202)
        const rows = await fleet.db
          .selectFrom('node_integrity_violations')
          .select(['status', 'occurrences'])
          .where('node_id', '=', node.node_id)
          .where('artifact', '=', `/usr/bin/${round}`)
          .orderBy('id')
          .execute()
        // The report was counted in the row before it was resolved, or opened another one after that.
        const counts = rows.map(({ status, occurrences }) => `${status} ${occurrences}`)
        expect(['acknowledged 2', 'resolved 1, open 1']).toContain(counts.join(', '))
      }
    })

    async function reasons(): Promise<string[]> {
      const rows = fleet.db
        .selectFrom('audit')
        .select('reason')
        .where('relation', '=', 'integrity_violation.resolve')
        .where(sql<string>`context ->> 'node_id'`, '=', node.node_id)
      return (await rows.execute()).map(({ reason }) => reason)
    }

    async function enrolledAgain(): Promise<Pick<Enrolled, 'node_id' | 'nsk'>> {
      const { token } = await fleet.token(domain, { node_id: node.node_id })
      const members = { public_key: freshPublicKey(), binary_checksum: CHECKSUM }
      const { status, body } = await fleet.register(token, members)
      expect(status).toBe(201)
      return { node_id: node.node_id, nsk: String(body['nsk']) }
    }

    /** Acknowledged violations, older than all that the server makes, of the node, which nothing resolves. */
    async function fill(rows: number): Promise<void> {
      const at = new Date(startMs)
      const artifactId = fleet.ids.next()
      await sql`
        insert into integrity_artifacts (id, domain_id, kind, artifact)
        values (${artifactId}, ${domain}, 'hook', ${artifactId})`.execute(fleet.db)
      await sql`
        insert into node_integrity_violations (
          id, node_id, domain_id, kind, artifact, artifact_id, status, observed_checksum,
          detected_at, last_detected_at, accepted_at, last_accepted_at, acknowledged_at
        )
        select ('00000000' || substr(gen_random_uuid()::text, 9))::uuid, ${node.node_id}, ${domain}, 'hook', 'old',
          ${artifactId}, 'acknowledged', sha256(convert_to(place::text, 'UTF8')), ${at}, ${at}, ${at}, ${at}, ${at}
        from generate_series(1, ${rows}::int) as place`.execute(fleet.db)
    }
  })
})
