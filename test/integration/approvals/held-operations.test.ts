import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createMirroredGroups } from '../../../src/server/slices/groups/mirrored-groups.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { codeOf, subjectOf } from '../../support/server/approvals.ts'
import type { Answer } from '../../support/server/control-plane.ts'
import { startTenancy, type Tenancy } from '../../support/server/tenancy.ts'

const SURFACES = ['approvals', 'approvalPolicies', 'idpBindings', 'secrets', 'signingKeys', 'relationTuples'] as const

const BINDING = {
  alias: 'corp',
  label: 'Corp',
  issuer: 'https://idp.example',
  client_id: 'ctl',
  client_secret: 'hunter2-of-the-provider',
}

/** What each action of a policy holds, one operation after the other. */
describe.each(STORES)('Operations under an approval policy on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let tenancy: Tenancy
    let domainId: string
    let ann: string
    let ben: string
    beforeAll(async () => {
      tenancy = await startTenancy(store, { surfaces: SURFACES })
    })
    beforeEach(async () => {
      domainId = await tenancy.domain()
      ann = await person('admin', `domain:${domainId}`)
      ben = await person('admin', `domain:${domainId}`)
    })
    afterAll(() => tenancy?.stop())

    async function person(relation: string, object: string): Promise<string> {
      const subject = await tenancy.holder(domainId, relation, object)
      const presentedAs = `browser.${subject}`
      tenancy.callers.add(subject, domainId, { presentedAs })
      return presentedAs
    }
    async function hold(action: string, place = `domains/${domainId}`, as = ann): Promise<void> {
      // Whatever is required stays required: asking for less would wait itself.
      const { actions: before } = (await tenancy.call(as, `GET /v1/${place}/approval-policy`)).body
      const actions = { ...Object(before), [action]: { required_approvals: 1 } }
      expect((await tenancy.call(as, `PUT /v1/${place}/approval-policy`, { actions })).status).toBe(200)
    }
    const approvalOf = (answer: Answer) => String(answer.headers.get('location')).replace('/v1/approvals/', '')
    /** Expects that the call waits, and is made once it is approved. Resolves with its approval as it waited. */
    async function expectHeld(call: () => Promise<Answer>, approver = ben): Promise<Readonly<Record<string, unknown>>> {
      const held = await call()
      expect([held.status, held.body]).toEqual([202, {}])
      const waiting = await tenancy.call(approver, `GET /v1/approvals/${approvalOf(held)}`)
      const approved = await tenancy.call(approver, `POST /v1/approvals/${approvalOf(held)}/approve`, {})
      expect(approved.body).toMatchObject({ state: 'approved' })
      return waiting.body
    }

    it('idp.write holds a new, a changed and a removed provider, and shows no secret of it', async () => {
      await hold('idp.write')
      const path = `/v1/admin/idp?domain_id=${domainId}`
      const bindings = async () =>
        (await tenancy.call(ben, `GET ${path}`)).body['items'] as readonly { id: string; label: string }[]
      const waiting = await expectHeld(() => tenancy.call(ann, `POST ${path}`, BINDING))
      expect(JSON.stringify(waiting)).not.toContain('hunter2')
      expect(waiting).toMatchObject({ action: { name: 'idp.write', operation: 'PostAdminIdP' } })
      const [binding] = await bindings()
      expect(binding).toMatchObject({ label: 'Corp' })
      const one = `/v1/admin/idp/${binding?.id}`
      await expectHeld(() => tenancy.call(ann, `PATCH ${one}`, { label: 'Corporation' }))
      expect(await bindings()).toMatchObject([{ label: 'Corporation' }])
      await expectHeld(() => tenancy.call(ann, `DELETE ${one}`))
      expect(await bindings()).toEqual([])
    })

    it('secrets.delete holds the deletion of a secret, each for itself', async () => {
      await hold('secrets.delete')
      const project = await tenancy.project(domainId)
      const at = (name: string) => `/v1/projects/${project}/secrets/${name}`
      for (const name of ['one', 'two'])
        expect((await tenancy.call(ann, `PUT ${at(name)}`, { value: 'x' })).status).toBe(200)
      const first = await tenancy.call(ann, `DELETE ${at('one')}`)
      expect(first.status).toBe(202)
      expect(codeOf(await tenancy.call(ben, `DELETE ${at('one')}`))).toEqual([409, 'approval_pending'])
      await expectHeld(() => tenancy.call(ann, `DELETE ${at('two')}`))
      expect((await tenancy.call(ann, `GET ${at('one')}`)).status).toBe(200)
      expect((await tenancy.call(ann, `GET ${at('two')}`)).status).toBe(404)
    })

    it('domain.delete holds the deletion of a Domain, which is refused at once where the Domain is not empty', async () => {
      const other = await tenancy.domain()
      const boss = await person('admin', 'platform:main')
      const second = await person('admin', 'platform:main')
      await hold('domain.delete', 'platform', boss)
      const project = await tenancy.project(other)
      expect(codeOf(await tenancy.call(boss, `DELETE /v1/domains/${other}`))).toEqual([409, 'domain_not_empty'])
      await tenancy.call(boss, `DELETE /v1/projects/${project}`)
      await expectHeld(() => tenancy.call(boss, `DELETE /v1/domains/${other}`), second)
      // A Domain that is gone is like one that nobody may see.
      expect((await tenancy.call(boss, `GET /v1/domains/${other}`)).status).toBe(403)
    })

    it('signing-keys.rotate holds a rotation', async () => {
      const boss = await person('admin', 'platform:main')
      const second = await person('admin', 'platform:main')
      await hold('signing-keys.rotate', 'platform', boss)
      const keys = async () => ((await tenancy.call(boss, 'GET /v1/signing-keys')).body['keys'] as unknown[]).length
      const before = await keys()
      await expectHeld(() => tenancy.call(boss, 'POST /v1/signing-keys/rotate'), second)
      expect(await keys()).toBe(before + 1)
    })

    it('no tuple of a Project makes anybody a manager of its Domain: alone and in bulk it is refused', async () => {
      await hold('access.admin')
      const project = await tenancy.project(domainId)
      const group = await tenancy.group(domainId)
      const cid = await tenancy.principal(domainId)
      for (const [relation, resource] of [
        ['admin', `domain:${domainId}`],
        ['admin', 'platform:main'],
        ['member', `group:${group}`],
      ] as const) {
        const tuple = { subject: cid, relation, resource }
        const alone = await tenancy.call(ann, `POST /v1/authz/relation-tuples?project_id=${project}`, tuple)
        expect(alone.status).toBe(400)
        const bulk = await tenancy.call(ann, `POST /v1/authz/relation-tuples/bulk?project_id=${project}`, {
          tuples: [tuple],
        })
        expect([400, 422]).toContain(bulk.status)
      }
      expect((await tenancy.tuplesOf(cid)).filter((one) => / (?:admin|member) /.test(one))).toEqual([])
    })

    it('a sign-in adds nobody to a mirrored group that manages a Domain where two people decide on that', async () => {
      const made = await tenancy.call(ann, `POST /v1/domains/${domainId}/groups`, {
        slug: 'mirrored',
        display_name: 'Mirrored',
        provider_group: 'admins',
      })
      const group = `group:${String(made.body['id'])}`
      await tenancy.call(ann, `POST /v1/domains/${domainId}/grants`, { subject: `${group}#member`, relation: 'admin' })
      const cid = await tenancy.principal(domainId)
      const signIn = (isHeld: boolean) => {
        const { mirror } = createMirroredGroups({ isHeld: async () => isHeld })
        const userId = subjectOf(cid).slice('user:'.length)
        return tenancy.change((change) => mirror(change, { userId, domainId, names: ['admins'] }))
      }
      expect(await signIn(true)).toEqual({ added: 0, removed: 0, full: 0, held: 1 })
      expect(await signIn(false)).toEqual({ added: 1, removed: 0, full: 0, held: 0 })
    })
  })
})
