import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { addRelease } from '../../support/releases/add-release.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { startRolloutFleet, type RolloutFleet } from '../../support/fleet/rollout-fleet.ts'

describe.each(STORES)('Plans of rollouts on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: RolloutFleet
    let domain: string
    beforeAll(async () => {
      fleet = await startRolloutFleet(store)
      await addRelease(fleet.db, '3.0.0', { supportStatus: 'withdrawn' })
      await addRelease(fleet.db, '3.0.1', { unverified: 'There is no attestation.' })
      await addRelease(fleet.db, '3.0.2', { supportStatus: 'deprecated' })
    })
    beforeEach(async () => {
      domain = await fleet.domain()
    })
    afterAll(() => fleet?.stop())

    const rows = () => fleet.db.selectFrom('rollouts').selectAll().where('domain_id', '=', domain).execute()

    it('have defaults, upgrade nothing, are announced and are audited', async () => {
      await fleet.labelled(domain)
      const answer = await fleet.plan(domain, { slug: 'first' })
      const id = String(answer.body['id'])
      expect(answer.headers.get('location')).toBe(`/v1/rollouts/${id}`)
      expect([answer.status, answer.body]).toEqual([
        201,
        {
          id,
          domain_id: domain,
          slug: 'first',
          status: 'pending',
          version: '2.0.0',
          selector: '*',
          waves: [{ percent: 100 }],
          canaries: 0,
          max_in_flight: 50,
          soak_seconds: 0,
          max_failures: 0,
          window: null,
          allow_downgrade: false,
          node_count: 0,
          wave: null,
          progress: [
            { wave: 1, nodes: 0, counts: { pending: 0, upgrading: 0, soaking: 0, done: 0, failed: 0, skipped: 0 } },
          ],
          failures: 0,
          halted_reason: null,
          waiting_for: null,
          created_by: fleet.root,
          created_at: '2026-03-01T08:00:00.000Z',
          started_at: null,
          finished_at: null,
          updated_at: '2026-03-01T08:00:00.000Z',
        },
      ])
      expect(await fleet.show(id)).toEqual(answer.body)
      expect(await fleet.outbox(answer)).toEqual([
        {
          event: 'RolloutCreated',
          domain_id: domain,
          aggregate: `rollout:${id}`,
          payload: { rollout_id: id, slug: 'first', version: '2.0.0' },
        },
      ])
      expect(await fleet.audit(answer)).toEqual({
        relation: 'rollout.create',
        object: `rollout:${id}`,
        outcome: 'granted',
        reason: 'granted',
        domainId: domain,
      })
      await fleet.pass()
      expect((await fleet.show(id))['status']).toBe('pending')
      expect(await fleet.nodesOf(id)).toEqual([])
    })

    it.each([
      [
        'a percentage that does not rise',
        { waves: [{ percent: 50 }, { percent: 50 }, { percent: 100 }] },
        '/waves/1/percent',
      ],
      [
        'a percentage that falls behind a group',
        { waves: [{ percent: 50 }, { update_group: 'a' }, { percent: 20 }, { percent: 100 }] },
        '/waves/2/percent',
      ],
      ['a last wave below 100 percent', { waves: [{ percent: 5 }, { percent: 99 }] }, '/waves/1/percent'],
      [
        'a group that is named twice',
        { waves: [{ update_group: 'a' }, { update_group: 'a' }] },
        '/waves/1/update_group',
      ],
      ['a time zone that there is not', { window: { time_zone: 'Mars/Olympus' } }, '/window/time_zone'],
      ['an offset as time zone', { window: { time_zone: '+01:00' } }, '/window/time_zone'],
      ['a window that ends when it begins', { window: { from: '09:00', to: '09:00' } }, '/window/to'],
    ])('are refused with %s', async (_what, { window, ...members }: Readonly<Record<string, unknown>>, pointer) => {
      const whole = { time_zone: 'Europe/Berlin', days: [1], from: '09:00', to: '16:00', ...Object(window) }
      const answer = await fleet.plan(domain, { ...members, ...(window !== undefined && { window: whole }) })
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_rollout', errors: [{ pointer }] } })
      expect(await rows()).toEqual([])
    })

    it.each([
      ['no version', { version: '' }],
      ['a wave that has both members', { waves: [{ percent: 100, update_group: 'a' }] }],
      ['a wave that has neither', { waves: [{}] }],
      ['no wave', { waves: [] }],
      ['more than twenty waves', { waves: Array.from({ length: 21 }, (_, n) => ({ percent: n + 1 })) }],
      ['zero percent', { waves: [{ percent: 0 }, { percent: 100 }] }],
      ['six canaries', { canaries: 6 }],
      ['no node in flight', { max_in_flight: 0 }],
      ['a soak of more than a week', { soak_seconds: 604_801 }],
      ['an hour that there is not', { window: { time_zone: 'UTC', days: [1], from: '24:00', to: '01:00' } }],
      ['an unknown weekday', { window: { time_zone: 'UTC', days: [8], from: '23:00', to: '01:00' } }],
      ['an unknown member', { force: true }],
    ])('are refused as malformed with %s', async (_what, members) => {
      expect(await fleet.plan(domain, members)).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
      expect(await rows()).toEqual([])
    })

    it('are refused with the place of each error of the selector, in bytes', async () => {
      await fleet.labelled(domain, { umlaut: 'x' })
      expect(await fleet.plan(domain, { selector: 'umlaut="ü",evn=prod' })).toMatchObject({
        status: 400,
        body: {
          code: 'invalid_selector',
          errors: [{ offset: 12, length: 3, code: 'unknown_key', pointer: '/selector' }],
        },
      })
      expect(await rows()).toEqual([])
    })

    it.each([
      ['9.9.9', 'no such release is known'],
      ['not a version', 'no such release is known'],
      ['3.0.0', 'the release was withdrawn'],
      ['3.0.1', 'the release is not verified'],
    ])('of %s are refused: %s', async (version, reason) => {
      const answer = await fleet.plan(domain, { version })
      expect(answer).toMatchObject({ status: 422, body: { code: 'release_not_eligible', reason } })
      expect(await rows()).toEqual([])
      expect(await fleet.outbox(answer)).toEqual([])
    })

    it('of a deprecated release are taken', async () => {
      expect((await fleet.plan(domain, { version: '3.0.2' })).status).toBe(201)
    })

    it('keep the selector as it was meant: its Definitions cannot be deleted until the rollout has ended', async () => {
      await fleet.labelled(domain, { env: 'prod' })
      const { body } = await fleet.plan(domain, { selector: 'env = prod' })
      expect(body['selector']).toBe(`domain:${domain}/env=prod`)
      const definition = await fleet.db
        .selectFrom('label_definitions')
        .select('id')
        .where('qualified_key', '=', `domain:${domain}/env`)
        .executeTakeFirstOrThrow()
      const remove = () => fleet.call(fleet.root, `DELETE /v1/label-definitions/${definition.id}`)
      expect(await remove()).toMatchObject({ status: 409, body: { code: 'definition_in_use' } })
      await fleet.move(String(body['id']), 'cancel')
      expect((await remove()).body['code']).not.toBe('definition_in_use')
    })

    it('have a slug that no other rollout of the Domain has', async () => {
      expect((await fleet.plan(domain, { slug: 'same' })).status).toBe(201)
      expect(await fleet.plan(domain, { slug: 'same' })).toMatchObject({ status: 409, body: { code: 'slug_conflict' } })
      expect((await fleet.plan(await fleet.domain(), { slug: 'same' })).status).toBe(201)
    })

    it('need operate on the Domain, and read to be seen', async () => {
      const viewer = await fleet.holder(domain, 'viewer', `domain:${domain}`)
      const operator = await fleet.holder(domain, 'operator', `domain:${domain}`)
      const stranger = await fleet.holder(domain, 'viewer', `domain:${await fleet.domain()}`)
      expect(await fleet.plan(domain, {}, viewer)).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
      const { body } = await fleet.plan(domain, {}, operator)
      const id = String(body['id'])
      expect((await fleet.call(viewer, `GET /v1/rollouts/${id}`)).status).toBe(200)
      expect((await fleet.call(viewer, `GET /v1/rollouts/${id}/nodes`)).status).toBe(200)
      expect(await fleet.move(id, 'start', viewer)).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
      for (const operation of [`GET /v1/rollouts/${id}`, `POST /v1/rollouts/${id}/start`, `DELETE /v1/rollouts/${id}`])
        expect(await fleet.call(stranger, operation)).toMatchObject({
          status: 404,
          body: { code: 'rollout_not_found' },
        })
      expect((await fleet.show(id))['status']).toBe('pending')
    })

    it('are listed newest first, by status too', async () => {
      const [one, two] = [await fleet.plan(domain, { slug: 'one' }), await fleet.plan(domain, { slug: 'two' })]
      await fleet.move(String(one.body['id']), 'cancel')
      const list = async (query: string) =>
        (
          (await fleet.call(fleet.root, `GET /v1/domains/${domain}/rollouts${query}`)).body['items'] as {
            slug: string
          }[]
        ).map(({ slug }) => slug)
      expect(two.status).toBe(201)
      expect(await list('')).toEqual(['two', 'one'])
      expect(await list('?status=cancelled')).toEqual(['one'])
      expect(await fleet.call(fleet.root, `GET /v1/domains/${domain}/rollouts?status=over`)).toMatchObject({
        status: 400,
        body: { code: 'invalid_status' },
      })
    })

    it('go with their Domain', async () => {
      const { body } = await fleet.plan(domain)
      expect((await fleet.call(fleet.root, `DELETE /v1/domains/${domain}`)).status).toBe(204)
      expect(await fleet.call(fleet.root, `GET /v1/rollouts/${String(body['id'])}`)).toMatchObject({ status: 404 })
    })
  })
})
