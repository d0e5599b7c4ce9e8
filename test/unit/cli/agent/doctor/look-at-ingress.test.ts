import { describe, expect, test } from 'vitest'
import type { IngressRow } from '../../../../../src/cli/agent/bridges/ingress/ingress-rows.ts'
import { lookAtIngress } from '../../../../../src/cli/agent/doctor/look-at-ingress.ts'

const ROW: IngressRow = {
  bridge_id: '0197a000-0000-7000-8000-00000000b001',
  slug: 'shop',
  host: 'shop.example.org',
  way: 'passthrough',
  target_node_id: '0197a000-0000-7000-8000-00000000c001',
  target: '100.64.0.2:8443',
  certificate_until: null,
}
const look = (...rules: readonly IngressRow[]) => lookAtIngress({ status: { ingress: { listen: ':443', rules } } })

describe('ctl agent doctor looks at ingress, and', () => {
  test('skips it where there is no rule', () => {
    expect(look()).toMatchObject({ check: 'ingress', status: 'skipped' })
  })

  test('finds rules whose node is a peer and whose certificate is there in order', () => {
    const acme: IngressRow = {
      ...ROW,
      host: 'blog.example.org',
      way: 'acme',
      certificate_until: new Date(Date.now() + 86_400_000).toISOString(),
    }
    expect(look(ROW, acme)).toMatchObject({ status: 'ok', detail: '2 names on :443' })
    expect(look(ROW)).toMatchObject({ status: 'ok', detail: '1 name on :443' })
  })

  test('warns of a node that is no peer, and of a certificate that is missing or over', () => {
    expect(look({ ...ROW, target: null })).toMatchObject({
      status: 'warning',
      detail: 'no peer is the target of shop.example.org',
    })
    for (const certificate_until of [null, new Date(Date.now() - 1).toISOString()])
      expect(look({ ...ROW, way: 'acme', certificate_until })).toMatchObject({
        status: 'warning',
        detail: 'there is no valid certificate for shop.example.org',
      })
  })
})
