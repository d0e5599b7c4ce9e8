import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createKnownEpochs } from '../../../../src/cli/agent-sim/known-epochs.ts'
import { createPeerBook } from '../../../../src/client/agent/peers/peer-book.ts'
import { createPeerView } from '../../../../src/client/agent/peers/peer-view.ts'
import { digestEpochs } from '../../../../src/shared/mesh/epoch-digest.ts'
import { id, issued, peer } from '../../../support/fleet/mesh-agents.ts'

const NODES = 6

/** Which of a few agents hears what of which peer: that it is gone (0) or which of its keys is in force. */
const hearing = fc.record({
  agent: fc.integer({ min: 1, max: NODES }),
  of: fc.integer({ min: 1, max: NODES }),
  key: fc.integer({ min: 0, max: 3 }),
  digests: fc.boolean(),
})

test('The digest of an agent depends only on its own peers, not on earlier digests with the same book', () => {
  fc.assert(
    fc.property(fc.array(hearing, { maxLength: 60 }), (heard) => {
      const book = createPeerBook()
      const digest = createKnownEpochs(book)
      const agents = Array.from({ length: NODES }, () => ({
        view: createPeerView(book),
        known: new Map<string, string>(),
      }))
      for (const { agent, of, key, digests } of heard) {
        const { view, known } = agents[agent - 1] ?? expect.fail()
        // A look at a peer of whom nobody has said anything yet.
        view.find(id(of))
        view.set(id(of), key === 0 ? undefined : peer(of, { psk_issued_at: issued(key) }))
        if (key === 0) known.delete(id(of))
        else known.set(id(of), issued(key))
        if (!digests) continue
        const own = issued(agent)
        const epochs = new Map([...known].map(([peerId, theirs]) => [peerId, `${own}|${theirs}`]))
        expect(digest(view, own)).toEqual(digestEpochs(epochs))
      }
    }),
  )
})
