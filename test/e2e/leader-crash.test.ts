import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { CtlProcess } from '../support/server/ctl-process.ts'
import { depth } from '../support/run/depth.ts'
import { callServer, metricOf, startReplicas, type Replicas } from '../support/server/replicas.ts'
import { requirement } from '../support/run/requirements.mjs'

const ROUNDS = depth({ ci: 1, deep: 20 })
/** Identities that one writer makes in a round; the outbox is numbered and consumed all the while. */
const IDENTITIES = 30

describe.skipIf(requirement('postgresql') === undefined)('kill -9 of the server that leads', () => {
  let replicas: Replicas
  beforeAll(async () => {
    replicas = await startReplicas(2)
  }, 180_000)
  afterAll(() => replicas?.stop(), 60_000)

  const leader = (among: readonly CtlProcess[]) =>
    vi.waitFor(
      async () => {
        const flags = await Promise.all(among.map((each) => metricOf(each, 'leading')))
        const found = among[flags.indexOf(1)]
        if (found === undefined) throw new Error('nobody leads')
        return found
      },
      { timeout: 30_000, interval: 50 },
    )

  /** Makes service identities, each of which loses its edge at once, and resolves with how many were acknowledged. */
  async function provision(by: CtlProcess, round: number): Promise<number> {
    let made = 0
    for (let n = 0; n < IDENTITIES; n++) {
      const { status } = await callServer(by, {
        token: replicas.token,
        method: 'POST',
        path: `/v1/domains/${replicas.domainId}/service-identities`,
        body: { display_name: 'Robot', subject: `robot-${round}-${n}` },
      })
      if (status === 201) made += 1
    }
    return made
  }

  const orderly = async () => {
    const [row] = await replicas.rows(`
      select (select count(*)::int from outbox where seq is null) as unnumbered,
        (select max(seq) - count(*) from outbox)::int as missing,
        (select (select seq from outbox_head) - max(seq) from outbox)::int as ahead,
        (select (select seq from outbox_head) - min(seq) from outbox_consumers)::int as behind,
        (select count(*)::int from principals as p where 1 <> (select count(*) from relation_tuples as t
          where t.resource_id = p.id::text and t.relation = 'domain' and t.subject_id = p.domain_id::text)) as orphans`)
    return row
  }

  test(`leaves no gap, no event untaken and each identity with one edge, ${ROUNDS} rounds`, async () => {
    // The edge that each change writes is lost, as in a broken restore: only the consumer gives it back.
    await replicas.rows(`
      create function lose_edge() returns trigger language plpgsql as $$
      begin
        if current_setting('application_name') = 'ctl interactive' then
          delete from relation_tuples where id = new.id;
        end if;
        return null;
      end $$;
      create trigger lose_edge after insert on relation_tuples for each row
      when (new.structural and new.resource_type = 'serviceaccount') execute function lose_edge()`)
    let acknowledged = 0
    for (let round = 0; round < ROUNDS; round++) {
      const victim = await leader(replicas.servers)
      const other = replicas.servers.find((each) => each !== victim) ?? victim
      const writing = provision(other, round)
      await vi.waitFor(async () => {
        const [row] = await replicas.rows('select seq > 0 as begun from outbox_consumers')
        expect(row).toEqual({ begun: true })
      })
      await victim.end('SIGKILL')
      acknowledged += await writing
      expect(await leader([other])).toBe(other)
      await vi.waitFor(
        async () => expect(await orderly()).toEqual({ unnumbered: 0, missing: 0, ahead: 0, behind: 0, orphans: 0 }),
        { timeout: 60_000 },
      )
      await replicas.replace(victim)
    }
    const [row] = await replicas.rows(`select count(*)::int as made from principals where kind = 'service-identity'`)
    expect(Number(row?.['made'])).toBe(acknowledged + 1)
    expect(acknowledged).toBe(ROUNDS * IDENTITIES)
  }, 240_000)
})
