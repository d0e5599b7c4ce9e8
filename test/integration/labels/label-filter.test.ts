import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STORES } from '../../support/datastores/stores.ts'
import { startLabelTenancy, type LabelTenancy } from '../../support/labels/label-tenancy.ts'

type Members = Readonly<Record<string, unknown>>

describe.each(STORES)('Selectors in lists of nodes on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let plane: LabelTenancy
    let [here, there, project]: string[] = []
    /** By the names that the rows below use. */
    const nodes: Record<string, string> = {}

    beforeAll(async () => {
      plane = await startLabelTenancy(store, ['nodes'])
      here = await plane.domain()
      there = await plane.domain()
      project = await plane.project(here)
      nodes['a'] = await plane.node({ domainId: here })
      nodes['b'] = await plane.node({ domainId: here, projectId: project })
      nodes['c'] = await plane.node({ domainId: here, projectId: project })
      nodes['x'] = await plane.node({ domainId: there })
      nodes['y'] = await plane.node({ domainId: there })
      await plane.define(`domain:${here}`, 'site')
      await plane.define(`domain:${there}`, 'site')
      await plane.define(`project:${project}`, 'team')
      await plane.define('platform', 'stage', { inherit: true })
      await plane.define('platform', 'team')
      await plane.define('platform', 'size', { type: 'integer' })
      await plane.define(`domain:${there}`, 'size')
      await plane.label(`node:${nodes['a']}`, { [`domain:${here}/site`]: 'hall', 'platform/size': 7 })
      await plane.label(`node:${nodes['b']}`, { [`project:${project}/team`]: 'red', 'platform/stage': 'dev' })
      await plane.label(`node:${nodes['c']}`, { 'platform/team': 'red' })
      await plane.label(`node:${nodes['x']}`, { [`domain:${there}/site`]: 'hall', [`domain:${there}/size`]: '7' })
      await plane.label(`project:${project}`, { 'platform/stage': 'prod' })
      await plane.label(`domain:${here}`, { 'platform/stage': 'test' })
    })
    afterAll(() => plane.stop())

    const list = (query: Members) =>
      plane.call(plane.root, `GET /v1/nodes?${new URLSearchParams(query as Record<string, string>).toString()}`)
    const found = async (labels: string, members: Members = {}) => {
      const answer = await list({ labels, ...members })
      expect(answer.status, JSON.stringify(answer.body)).toBe(200)
      const ids = (answer.body['items'] as readonly Members[]).map(({ id }) => id)
      return Object.keys(nodes)
        .filter((name) => ids.includes(nodes[name]))
        .join('')
    }
    const written = (text: string) =>
      text.replaceAll('ELSEWHERE', `domain:${there}`).replaceAll('PROJECT', `project:${project}`)

    it.each([
      ['site=hall', 'ax'],
      ['site', 'ax'],
      ['!site', 'bcy'],
      ['site!=hall', 'bcy'],
      ['stage=test', 'a'],
      ['stage=prod', 'c'],
      ['stage in (dev,test)', 'ab'],
      ['stage!=prod', 'abxy'],
      ['!stage', 'xy'],
      ['team=red', 'bc'],
      ['!team', 'axy'],
      ['size=7', 'ax'],
      ['size>6', 'a'],
      ['size<6', ''],
      ['size>seven', ''],
      ['platform/stage=prod,site', ''],
      ['platform/team=red', 'c'],
      ['PROJECT/team', 'b'],
      ['ELSEWHERE/site=hall', 'x'],
      ['*', 'abcxy'],
      ['ghost=1', ''],
      ['!ghost', ''],
      ['site,!ghost', ''],
      ['platform/ghost!=1', ''],
    ])('without a Domain, %s finds %j: a bare key is what the place of each node sees', async (text, names) => {
      expect(await found(written(text))).toBe(names)
    })

    it.each([
      ['site=hall', 'a'],
      ['!site', 'bc'],
      ['stage=prod', 'c'],
      ['team=red', 'c'],
      ['size=7', 'a'],
      ['!ghost', ''],
      ['*', 'abc'],
    ])('within a Domain, %s finds %j: a bare key is what the Domain sees', async (text, names) => {
      expect(await found(text, { domain_id: here })).toBe(names)
    })

    it('reads what is no selector but key=value as it did before', async () => {
      const labels = JSON.stringify({ site: '', note: 'x=y %_"', Site: 'here' })
      await plane.db.updateTable('nodes').set({ labels }).where('id', '=', String(nodes['y'])).execute()
      expect(await found('site=')).toBe('y')
      expect(await found('note=x=y %_"')).toBe('y')
      expect(await found('Site=here,site=')).toBe('y')
      expect(await found('Site=there')).toBe('')
    })

    it.each([
      ['', [{ code: 'empty', offset: 0, length: 0 }]],
      ['site=hall,', [{ code: 'unexpected_token', offset: 10, length: 0 }]],
      ['=hall', [{ code: 'unexpected_token', offset: 0, length: 1 }]],
      ['site in (é)', [{ code: 'unexpected_token', offset: 9, length: 2 }]],
      [
        'Site=a,Site=b',
        [
          { code: 'unexpected_token', offset: 0 },
          { code: 'unexpected_token', offset: 7 },
        ],
      ],
    ])('refuses %j with the places of its errors', async (text, errors) => {
      expect(await list({ labels: text })).toMatchObject({
        status: 400,
        body: { code: 'invalid_label_filter', errors },
      })
    })

    it('refuses values of another type, where the Definition is known', async () => {
      const answer = await list({ labels: 'size>big', domain_id: String(here) })
      expect(answer).toMatchObject({
        status: 400,
        body: { code: 'invalid_label_filter', errors: [{ code: 'wrong_type', offset: 5, length: 3 }] },
      })
    })

    it('refuses a text over 4,096 characters', async () => {
      const answer = await list({ labels: `site=${'x'.repeat(4_092)}` })
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_label_filter' } })
    })
  })
})
