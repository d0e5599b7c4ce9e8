import { describe, expect, it } from 'vitest'
import { createOwnPolicies } from '../../../../../src/client/agent/policies/own-policies.ts'

const ISOLATED = {
  policy_id: 'p1',
  revision_id: 'r1',
  fingerprint: 'vhUiJSEaNaJchgCnowhbe7mB7tx27S6OI1ImgzFpCUE=',
  rules: [{ action: 'isolate', direction: 'ingress' }],
}
/** The fingerprint is the SHA-256 of `[]`. */
const GONE = { ...ISOLATED, fingerprint: 'T1PNoYwrqgwDVLtfmj7L5e0Sq02OEbqHPC8RFhICuUU=', rules: [] }
const FORGED = { ...ISOLATED, revision_id: 'r2', rules: [] }
const PEER = { groups: [], meshAddress: '100.64.0.2' }

function policies() {
  const own = createOwnPolicies()
  const held = (): readonly string[] => own.list().map(({ policyId, revisionId }) => `${policyId} ${revisionId}`)
  const isOpen = (): boolean => own.decide(PEER, { direction: 'ingress' }).allowed
  return { own, held, isOpen }
}

describe('The policies of a node', () => {
  it('let every flow pass before there is one', () => {
    const { own, held } = policies()
    expect([held(), own.decide(PEER, { direction: 'ingress' })]).toEqual([[], { isolated: false, allowed: true }])
  })

  it('are those of the last pull, by id, and decide at once', () => {
    const { own, held, isOpen } = policies()
    expect(own.replace([{ ...ISOLATED, policy_id: 'p2' }, ISOLATED])).toEqual([])
    expect([held(), isOpen()]).toEqual([['p1 r1', 'p2 r1'], false])
    expect(own.decide(PEER, { direction: 'ingress' }).by).toEqual({ policyId: 'p1', entry: 0 })
    own.replace([])
    expect([held(), isOpen()]).toEqual([[], true])
  })

  it('are changed by an update, and removed by one without rules', () => {
    const { own, held, isOpen } = policies()
    expect([own.apply(ISOLATED), held(), isOpen()]).toEqual([true, ['p1 r1'], false])
    expect([own.apply(GONE), held(), isOpen()]).toEqual([true, [], true])
  })

  it('stay as an update left them where a pull was asked for before', () => {
    const { own, held } = policies()
    own.replace([ISOLATED])
    own.apply(GONE)
    own.apply({ ...ISOLATED, policy_id: 'p2' })
    const [third, older] = [
      { ...ISOLATED, policy_id: 'p3' },
      { ...ISOLATED, policy_id: 'p2', revision_id: 'r0' },
    ]
    own.replace([ISOLATED, older, third], new Set(['p1', 'p2']))
    expect(held()).toEqual(['p2 r1', 'p3 r1'])
  })

  it('stay as they were where the fingerprint is wrong', () => {
    const { own, held, isOpen } = policies()
    expect([own.replace([FORGED]), held()]).toEqual([['p1'], []])
    own.apply(ISOLATED)
    expect([own.apply(FORGED), held(), isOpen()]).toEqual([false, ['p1 r1'], false])
    expect([own.replace([FORGED]), held(), isOpen()]).toEqual([['p1'], ['p1 r1'], false])
  })
})
