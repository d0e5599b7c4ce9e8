import type { signingKeys } from '../../../shared/contract/signing-keys.ts'
import { publishedKey } from '../../http/auth/published-key.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { Signer } from '../../ports/signer.ts'

/** Serves the keys that verify what the server signs, and their rotation. */
export function createSigningKeys({ signer }: { readonly signer: Signer }): Handlers<typeof signingKeys> {
  return {
    async GetSigningKeys(ctx, { include }) {
      const verifying = signer.keys()
      const expired = include === 'expired' ? await signer.expired() : []
      ctx.header('Cache-Control', `public, max-age=${signer.keepSeconds}`)
      return { keys: [...verifying, ...expired].map(publishedKey) }
    },

    async PostSigningKeysRotate(ctx) {
      // Outside of the change: the signer may be another service.
      const rotate = await signer.prepareRotation()
      const { next, previous } = await ctx.change(async (change) => {
        const rotation = await rotate(change.db)
        if (rotation.isNew) change.emit(announcement(rotation.next.kid, rotation.previous.kid))
        return rotation
      })
      await signer.refresh()
      if (previous.notAfter === undefined) throw new Error('a key that is followed has no end')
      return {
        kid: next.kid,
        signs_from: next.signsFrom.toISOString(),
        previous_kid: previous.kid,
        verifies_until: previous.notAfter.toISOString(),
      }
    },
  }
}

function announcement(kid: string, previousKid: string) {
  return {
    event: 'SigningKeysRotated' as const,
    domainId: null,
    aggregate: 'platform:main',
    payload: { kid, previous_kid: previousKid },
  }
}
