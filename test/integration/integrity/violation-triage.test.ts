import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CHECKSUM, type Enrolled } from '../../support/fleet/fleet.ts'
import { ALTERED, startTriagedFleet, type TriagedFleet } from '../../support/fleet/triaged-fleet.ts'
import { STORES } from '../../support/datastores/stores.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const ZERO = '00000000-0000-0000-0000-000000000000'

describe.each(STORES)('The triage of integrity violations on the $name store', (store) => {
  describe.skipIf(store.missing)('over its routes', () => {
    let fleet: TriagedFleet
    let domain: string
    let node: Enrolled
    let startMs: number
    beforeAll(async () => {
      fleet = await startTriagedFleet(store)
      startMs = fleet.clock.nowMs
    })
    beforeEach(async () => {
      fleet.clock.nowMs = startMs
      await fleet.db.deleteFrom('node_integrity_violations').execute()
      domain = await fleet.domain()
      node = await fleet.enrol(domain)
    })
    afterAll(() => fleet.stop())

    const holder = (relation: string, resource: string) => fleet.holder(domain, relation, resource)
    const list = (as: string, query = '', path = '/v1/integrity-violations') => fleet.call(as, `GET ${path}?${query}`)
    const ids = ({ body }: { readonly body: Readonly<Record<string, unknown>> }) =>
      (body['items'] as readonly { readonly id: string }[]).map(({ id }) => id)
    const audited = () => fleet.audited.at(-1)

    it('show a violation with all that is known of it', async () => {
      const project = await fleet.project(domain)
      const placed = await fleet.enrol(domain, { name: 'web-1' }, { project_id: project })
      const id = await fleet.violation(placed)
      fleet.wait(60_000)
      await fleet.report(placed)
      const answer = await fleet.call(fleet.root, `GET /v1/integrity-violations/${id}`)
      expect(answer.body).toEqual({
        id,
        node_id: placed.node_id,
        node_name: 'web-1',
        domain_id: domain,
        project_id: project,
        kind: 'binary',
        status: 'open',
        artifact_id: expect.any(String),
        artifact: '/usr/bin/agent',
        expected_checksum: CHECKSUM,
        observed_checksum: ALTERED,
        detected_at: new Date(startMs).toISOString(),
        reported_at: new Date(startMs).toISOString(),
        last_detected_at: new Date(startMs + 60_000).toISOString(),
        occurrences: 2,
        acknowledged_at: null,
        acknowledged_by_subject: null,
        acknowledge_reason: null,
        resolved_at: null,
      })
      expect(audited()).toMatchObject({
        relation: 'integrity_violation.read',
        object: `integrity_violation:${id}`,
        domainId: domain,
      })
    })

    describe('lists', () => {
      it('are in the order of first reports, newest first, and go on behind a page', async () => {
        const made: string[] = []
        for (const artifact of ['a', 'b', 'c', 'd', 'e']) {
          made.push(await fleet.violation(node, { artifact }))
          if (artifact !== 'b') fleet.wait(1)
        }
        await fleet.report(node, { artifact: 'a' })
        const [a, b, c, d, e] = made
        const first = await list(fleet.root, 'limit=2')
        expect(ids(first)).toEqual([e, d])
        const second = await list(fleet.root, `limit=2&cursor=${String(first.body['next_cursor'])}`)
        expect(ids(second)).toEqual([c, b])
        const third = await list(fleet.root, `limit=2&cursor=${String(second.body['next_cursor'])}`)
        expect(ids(third)).toEqual([a])
        expect(third.body['next_cursor']).toBeNull()
      })

      it('clamp their limit, and bind a cursor to its caller', async () => {
        for (const artifact of ['a', 'b']) await fleet.violation(node, { artifact })
        expect(ids(await list(fleet.root, 'limit=0'))).toHaveLength(1)
        const { body } = await list(fleet.root, 'limit=-5')
        const other = await holder('viewer', 'platform:main')
        expect(await list(other, `cursor=${String(body['next_cursor'])}`)).toMatchObject({
          status: 403,
          body: { code: 'cursor_binding_mismatch' },
        })
        expect(ids(await list(fleet.root, 'limit=100000'))).toHaveLength(2)
      })

      it('show what every filter asks for, one by one and together', async () => {
        const elsewhere = await fleet.enrol(await fleet.domain())
        const project = await fleet.project(domain)
        const placed = await fleet.enrol(domain, {}, { project_id: project, labels: { site: 'here' } })
        const binary = await fleet.violation(node)
        const hook = await fleet.violation(placed, { kind: 'hook', artifact: 'backup' })
        const hostKey = await fleet.violation(elsewhere, { kind: 'host_key', artifact: 'ed25519' })
        await fleet.acknowledge(fleet.root, binary)
        const site = encodeURIComponent('site=here')
        for (const [query, expected] of [
          [`domain_id=${domain}`, [hook, binary]],
          [`project_id=${project}`, [hook]],
          [`node_id=${elsewhere.node_id}`, [hostKey]],
          [`artifact_id=${String((await fleet.shown(hook))['artifact_id'])}`, [hook]],
          [`artifact_id=${NOWHERE}`, []],
          ['kind=binary', [binary]],
          ['status=open', [hostKey, hook]],
          ['status=acknowledged', [binary]],
          ['status=resolved', []],
          [`labels=${site}`, [hook]],
          [`labels=${encodeURIComponent('!site')}&domain_id=${domain}`, [binary]],
          [`domain_id=${domain}&kind=hook&status=open&labels=${site}&node_id=${placed.node_id}`, [hook]],
          [`domain_id=${domain}&kind=host_key`, []],
          ['labels=nobody-defined-it', []],
        ] as const)
          expect(ids(await list(fleet.root, query)), query).toEqual(expected)
        const ofDomain = await list(fleet.root, `labels=${site}`, `/v1/domains/${domain}/integrity-violations`)
        expect(ids(ofDomain)).toEqual([hook])
      })

      it.each([
        ['invalid_domain_id', `domain_id=${ZERO}`],
        ['invalid_project_id', 'project_id=web'],
        ['invalid_node_id', `node_id=${ZERO}`],
        ['invalid_artifact_id', `artifact_id=${ZERO}`],
        ['invalid_kind', 'kind=kernel'],
        ['invalid_status', 'status=closed'],
        ['invalid_label_filter', 'labels='],
        ['invalid_cursor', 'cursor=x'],
      ])('are refused with %s', async (code, query) => {
        expect(await list(fleet.root, query)).toMatchObject({ status: 400, body: { code } })
      })

      it('ask the platform before they read, and leave an audit row on it with counts', async () => {
        await fleet.violation(node)
        expect(await list(await holder('admin', `domain:${domain}`))).toMatchObject({
          status: 403,
          body: { code: 'permission_denied' },
        })
        expect(audited()).toMatchObject({ object: 'platform:main', outcome: 'permission_denied' })
        expect(ids(await list(await holder('viewer', 'platform:main')))).toHaveLength(1)
        expect(audited()).toMatchObject({
          relation: 'integrity_violation.list',
          object: 'platform:main',
          outcome: 'granted',
          domainId: null,
          context: { count: 1, item_count: 1 },
        })
        expect(audited()?.context).not.toHaveProperty('persistence_count')
        expect(audited()?.context).not.toHaveProperty('authz_errors')
      })

      it('leave out rows of Domains that the caller may not read, and count what was read', async () => {
        const closed = await fleet.domain()
        const hidden = await fleet.enrol(closed)
        const [shown] = [await fleet.violation(node), await fleet.violation(hidden)]
        const edge = { subject: 'platform:main', relation: 'platform', resource: `domain:${closed}` }
        await fleet.change(({ tuples }) => tuples.removeStructural(edge))
        expect(ids(await list(await holder('viewer', 'platform:main')))).toEqual([shown])
        expect(audited()?.context).toEqual({ count: 1, item_count: 1, persistence_count: 2 })
      })

      it('leave out and count rows whose check fails', async () => {
        const other = await fleet.domain()
        const shown = await fleet.violation(await fleet.enrol(other))
        await fleet.violation(node)
        fleet.faulty.add(`domain:${domain}`)
        expect(ids(await list(fleet.root))).toEqual([shown])
        fleet.faulty.clear()
        expect(audited()?.context).toEqual({ count: 1, item_count: 1, persistence_count: 2, authz_errors: 1 })
      })

      it('keep a violation of a node that left, which no label finds any more', async () => {
        const placed = await fleet.enrol(domain, {}, { labels: { site: 'here' } })
        const id = await fleet.violation(placed)
        await fleet.call(fleet.root, `DELETE /v1/nodes/${placed.node_id}`)
        expect(ids(await list(fleet.root, `node_id=${placed.node_id}`))).toEqual([id])
        expect(await fleet.shown(id)).toMatchObject({ node_id: placed.node_id, node_name: null })
        expect(ids(await list(fleet.root, `labels=${encodeURIComponent('site=here')}`))).toEqual([])
      })
    })

    describe('an acknowledgement', () => {
      it('records reason, subject and time, and is announced and audited with the change', async () => {
        const id = await fleet.violation(node)
        fleet.wait(5_000)
        const by = await holder('auditor', 'platform:main')
        const answer = await fleet.acknowledge(by, id, 'Patched by hand: ticket 4711.')
        expect(answer).toMatchObject({
          status: 200,
          body: {
            id,
            status: 'acknowledged',
            acknowledged_at: new Date(startMs + 5_000).toISOString(),
            acknowledged_by_subject: by,
            acknowledge_reason: 'Patched by hand: ticket 4711.',
            resolved_at: null,
          },
        })
        expect(await fleet.shown(id)).toEqual(answer.body)
        expect(await fleet.outbox(answer)).toEqual([
          {
            event: 'IntegrityViolationAcknowledged',
            domain_id: domain,
            aggregate: `integrity_violation:${id}`,
            payload: {
              violation_id: id,
              node_id: node.node_id,
              kind: 'binary',
              artifact_id: answer.body['artifact_id'],
              acknowledged_by: by,
            },
          },
        ])
        const carried = fleet.db.selectFrom('audit').selectAll().where('object', '=', `integrity_violation:${id}`)
        expect(await carried.execute()).toMatchObject([
          {
            relation: 'integrity_violation.acknowledge',
            subject: by,
            outcome: 'granted',
            domain_id: domain,
          },
        ])
      })

      it.each([
        ['a zero id', ZERO, { reason: 'x' }, 400, 'invalid_integrity_violation_id'],
        ['no id', 'web-1', { reason: 'x' }, 400, 'invalid_integrity_violation_id'],
        ['a zero id before its body', ZERO, 'nothing', 400, 'invalid_integrity_violation_id'],
        ['an empty reason', NOWHERE, { reason: '' }, 400, 'invalid_acknowledge_reason'],
        ['a blank reason', NOWHERE, { reason: ' \t\n\u00a0' }, 400, 'invalid_acknowledge_reason'],
        ['a long reason', NOWHERE, { reason: 'x'.repeat(1_025) }, 400, 'invalid_acknowledge_reason'],
        ['no reason', NOWHERE, {}, 400, 'invalid_acknowledge_reason'],
        ['a reason that is no text', NOWHERE, { reason: 7 }, 400, 'invalid_acknowledge_reason'],
        ['an unknown member', NOWHERE, { reason: 'x', by: 'me' }, 400, 'invalid_body'],
        ['an unknown violation', NOWHERE, { reason: 'x' }, 404, 'integrity_violation_not_found'],
      ])('is refused with %s', async (_what, id, body, status, code) => {
        const answer = await fleet.call(fleet.root, `POST /v1/integrity-violations/${id}/acknowledge`, body)
        expect(answer).toMatchObject({ status, body: { code } })
      })

      it('takes a reason of 1,024 characters', async () => {
        const reason = 'x'.repeat(1_024)
        const answer = await fleet.acknowledge(fleet.root, await fleet.violation(node), reason)
        expect(answer).toMatchObject({ status: 200, body: { acknowledge_reason: reason } })
      })

      it('has its body decoded before the caller is judged, and the caller before the violation', async () => {
        const nobody = await fleet.principal(domain)
        expect(await fleet.acknowledge(nobody, NOWHERE, ' ')).toMatchObject({
          status: 400,
          body: { code: 'invalid_acknowledge_reason' },
        })
        const [unknown, known] = [NOWHERE, await fleet.violation(node)]
        for (const id of [unknown, known])
          expect(await fleet.acknowledge(nobody, id)).toMatchObject({
            status: 403,
            body: { code: 'permission_denied', missing_relation: { relation: 'read', object: 'platform:main' } },
          })
        expect(await fleet.shown(known)).toMatchObject({ status: 'open' })
      })

      it.each(['acknowledged', 'resolved'] as const)('is refused for one that is %s', async (status) => {
        const id = await fleet.violation(node)
        await fleet.acknowledge(fleet.root, id, 'first')
        if (status === 'resolved') await setResolved(id)
        const before = await fleet.shown(id)
        const answer = await fleet.acknowledge(fleet.root, id, 'second')
        expect(answer).toMatchObject({ status: 409, body: { code: 'illegal_transition' } })
        expect(await fleet.shown(id)).toEqual(before)
        expect(await fleet.outbox(answer)).toEqual([])
        expect(await fleet.audit(answer)).toMatchObject({
          object: `integrity_violation:${id}`,
          outcome: 'invariant_violation',
          domainId: domain,
        })
      })

      it('is made by one of those who acknowledge at once', async () => {
        const id = await fleet.violation(node)
        const people = await Promise.all([1, 2, 3, 4].map(() => holder('viewer', 'platform:main')))
        const answers = await Promise.all(people.map((subject, at) => fleet.acknowledge(subject, id, `by ${at}`)))
        const statuses = answers.map(({ status }) => status)
        expect(statuses.toSorted()).toEqual([200, 409, 409, 409])
        const winner = statuses.indexOf(200)
        expect(await fleet.shown(id)).toMatchObject({
          acknowledged_by_subject: people[winner],
          acknowledge_reason: `by ${winner}`,
        })
        const events = fleet.db
          .selectFrom('outbox')
          .select('event')
          .where('aggregate', '=', `integrity_violation:${id}`)
        expect((await events.orderBy('id').execute()).map(({ event }) => event)).toEqual([
          'IntegrityViolationOpened',
          'IntegrityViolationAcknowledged',
        ])
      })

      async function setResolved(id: string): Promise<void> {
        const resolved = { status: 'resolved', resolved_at: new Date(fleet.clock.nowMs) } as const
        await fleet.db.updateTable('node_integrity_violations').set(resolved).where('id', '=', id).execute()
      }
    })

    describe('by the people of a Domain', () => {
      const routes = (id: string, of = domain) => `/v1/domains/${of}/integrity-violations/${id}`

      it('is read with `read` and acknowledged with `operate`, without a role on the platform', async () => {
        const id = await fleet.violation(node)
        const [viewer, operator] = [
          await holder('viewer', `domain:${domain}`),
          await holder('operator', `domain:${domain}`),
        ]
        expect(ids(await list(viewer, '', `/v1/domains/${domain}/integrity-violations`))).toEqual([id])
        expect(audited()).toMatchObject({
          relation: 'domain_integrity_violation.list',
          object: `domain:${domain}`,
          domainId: domain,
          context: { count: 1 },
        })
        expect(await fleet.call(viewer, `GET ${routes(id)}`)).toMatchObject({ status: 200, body: { id } })
        const refused = await fleet.call(viewer, `POST ${routes(id)}/acknowledge`, { reason: 'x' })
        expect(refused).toMatchObject({ status: 403, body: { missing_relation: { relation: 'operate' } } })
        const answer = await fleet.call(operator, `POST ${routes(id)}/acknowledge`, { reason: 'x' })
        expect(answer).toMatchObject({
          status: 200,
          body: { status: 'acknowledged', acknowledged_by_subject: operator },
        })
        expect(await fleet.audit(answer)).toMatchObject({ relation: 'domain_integrity_violation.acknowledge' })
        const again = await fleet.call(operator, `POST ${routes(id)}/acknowledge`, { reason: 'x' })
        expect(again).toMatchObject({ status: 409, body: { code: 'illegal_transition' } })
      })

      it('does not reach a violation of another Domain', async () => {
        const foreign = await fleet.violation(await fleet.enrol(await fleet.domain()))
        const operator = await holder('operator', `domain:${domain}`)
        for (const answer of [
          await fleet.call(operator, `GET ${routes(foreign)}`),
          await fleet.call(operator, `POST ${routes(foreign)}/acknowledge`, { reason: 'x' }),
        ])
          expect(answer).toMatchObject({ status: 404, body: { code: 'integrity_violation_not_found' } })
        expect(await fleet.shown(foreign)).toMatchObject({ status: 'open' })
        expect(await list(operator, '', '/v1/integrity-violations')).toMatchObject({ status: 403 })
        const otherDomain = String((await fleet.shown(foreign))['domain_id'])
        expect(await fleet.call(operator, `GET ${routes(foreign, otherDomain)}`)).toMatchObject({ status: 403 })
      })
    })
  })
})
