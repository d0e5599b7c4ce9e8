import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CHECKSUM, type Enrolled } from '../../support/fleet/fleet.ts'
import { startObservedFleet, type ObservedFleet } from '../../support/fleet/observed-fleet.ts'
import { STORES } from '../../support/datastores/stores.ts'

const KEY = `SHA256:${'k'.repeat(43)}`
const OTHER_KEY = `SHA256:${'o'.repeat(43)}`

describe.each(STORES)('Capabilities on the $name store', (store) => {
  describe.skipIf(store.missing)('as nodes report them', () => {
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

    const full = {
      binary_version: '1.2.3',
      binary_checksum: CHECKSUM,
      ssh_host_key_fingerprint: KEY,
      hooks: [
        { name: 'restore', checksum: CHECKSUM },
        { name: 'backup', checksum: CHECKSUM },
      ],
    }
    const at = (of: Enrolled = node) => `PUT /v1/nodes/${of.node_id}/capabilities`
    const put = (members: Readonly<Record<string, unknown>> = {}) => fleet.call(node.nsk, at(), { ...full, ...members })
    const stored = () =>
      fleet.db.selectFrom('node_capabilities').selectAll().where('node_id', '=', node.node_id).executeTakeFirst()

    it('are stored, and the answer names what is new', async () => {
      const answer = await put()
      expect(answer.status).toBe(200)
      expect(answer.body).toEqual({
        accepted_at: fleet.instant(0),
        fields_changed: ['binary_checksum', 'binary_version', 'hooks', 'ssh_host_key_fingerprint'],
        host_key_changed: false,
      })
      expect(await stored()).toEqual({
        node_id: node.node_id,
        binary_version: '1.2.3',
        binary_checksum: Buffer.from(CHECKSUM, 'hex'),
        ssh_host_key_fingerprint: KEY,
        architecture: null,
        hooks: [
          { name: 'backup', checksum: CHECKSUM },
          { name: 'restore', checksum: CHECKSUM },
        ],
        updated_at: new Date(fleet.clock.nowMs),
      })
      expect(await fleet.audit(answer)).toMatchObject({
        relation: 'node_capabilities.record',
        object: `node:${node.node_id}`,
        outcome: 'granted',
        domainId: domain,
      })
    })

    it('that are the same, however spelt, change nothing but their instant, and tell nobody', async () => {
      await put()
      const before = await stored()
      const revision = await fleet.revision(domain)
      fleet.wait(1_000)
      const answer = await put({
        binary_checksum: Buffer.from(CHECKSUM, 'hex').toString('base64'),
        hooks: full.hooks.toReversed(),
      })
      expect(answer.body).toMatchObject({ fields_changed: [], host_key_changed: false })
      expect(await stored()).toEqual({ ...before, updated_at: new Date(fleet.clock.nowMs) })
      expect(await fleet.outbox(answer)).toEqual([])
      expect(await fleet.revision(domain)).toBe(revision)
    })

    it('have another host key where one was known, also after a report without one', async () => {
      await put({ ssh_host_key_fingerprint: undefined })
      expect((await put()).body).toMatchObject({
        fields_changed: ['ssh_host_key_fingerprint'],
        host_key_changed: false,
      })
      expect((await put({ ssh_host_key_fingerprint: undefined })).body).toMatchObject({ fields_changed: [] })
      expect((await put({ ssh_host_key_fingerprint: OTHER_KEY })).body).toMatchObject({
        fields_changed: ['ssh_host_key_fingerprint'],
        host_key_changed: true,
      })
    })

    it('keep the architecture that a later report leaves out', async () => {
      expect((await put({ architecture: 'x86_64' })).body).toMatchObject({
        fields_changed: ['architecture', 'binary_checksum', 'binary_version', 'hooks', 'ssh_host_key_fingerprint'],
      })
      expect((await put()).body).toMatchObject({ fields_changed: [] })
      expect((await put({ architecture: 'aarch64' })).body).toMatchObject({ fields_changed: ['architecture'] })
      expect((await stored())?.architecture).toBe('aarch64')
    })

    it('name each change once, of however many reports at the same time', async () => {
      await put({ binary_version: '0' })
      const answers = await Promise.all(Array.from({ length: 6 }, () => put({ binary_version: '1' })))
      expect(
        answers.filter(({ body }) => JSON.stringify(body['fields_changed']) === '["binary_version"]'),
      ).toHaveLength(1)
      expect(answers.filter(({ body }) => JSON.stringify(body['fields_changed']) === '[]')).toHaveLength(5)
    })

    it.each([
      ['a checksum of 31 bytes', 'invalid_checksum', { binary_checksum: 'ab'.repeat(31) }],
      ['no checksum', 'invalid_checksum', { binary_checksum: undefined }],
      ['a hook whose checksum is none', 'invalid_checksum', { hooks: [{ name: 'backup', checksum: 'x' }] }],
      ['an empty version', 'invalid_body', { binary_version: '' }],
      ['a host key in another form', 'invalid_body', { ssh_host_key_fingerprint: `MD5:${'0'.repeat(32)}` }],
      ['a host key that is none', 'invalid_body', { ssh_host_key_fingerprint: null }],
      ['an architecture in upper case', 'invalid_body', { architecture: 'X86' }],
      ['an architecture of 65 characters', 'invalid_body', { architecture: 'a'.repeat(65) }],
      ['a hook without a name', 'invalid_body', { hooks: [{ name: '', checksum: CHECKSUM }] }],
      ['a hook twice', 'invalid_body', { hooks: [full.hooks[0], full.hooks[0]] }],
      ['an unknown member', 'invalid_body', { load: 1 }],
    ])('are refused with %s, and nothing is stored', async (_what, code, members) => {
      expect(await put(members)).toMatchObject({ status: 400, body: { code } })
      expect(await stored()).toBeUndefined()
    })

    it('may take 32 KiB', async () => {
      const text = JSON.stringify(full)
      expect(await fleet.send(node.nsk, at(), text.padEnd(32 * 1024))).toMatchObject({ status: 200 })
      expect(await fleet.send(node.nsk, at(), text.padEnd(32 * 1024 + 1))).toMatchObject({
        status: 413,
        body: { code: 'request_body_too_large' },
      })
    })

    it('are refused from another node before the body is looked at, from people, and from a node that is gone', async () => {
      const other = await fleet.enrol(domain)
      const answer = await fleet.send(other.nsk, at(), 'x'.repeat(40_000))
      expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } })
      expect(await fleet.audit(answer)).toMatchObject({
        relation: 'node_capabilities.record',
        outcome: 'permission_denied',
        reason: 'forbidden',
      })
      expect(await fleet.call(fleet.root, at(), full)).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
      expect(await stored()).toBeUndefined()
      await put()
      await fleet.db.deleteFrom('nodes').where('id', '=', node.node_id).execute()
      expect(await put()).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
      expect(await stored()).toBeUndefined()
    })
  })
})
