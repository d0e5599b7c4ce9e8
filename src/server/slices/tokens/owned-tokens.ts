import type { OwnedTokens } from '../../ports/owned-tokens.ts'
import { deleteTokens, lockAllOf } from './store.ts'

/** The tokens of a principal, as the slices that own principals change them. */
export function createOwnedTokens(): OwnedTokens {
  return {
    async ownerChanged(change, ownerId) {
      for (const id of await lockAllOf(change.db, ownerId)) change.credentialChanged('api-token', id)
    },

    async deleteAllOf(change, ownerId) {
      const ids = await lockAllOf(change.db, ownerId)
      for (const id of ids) {
        await change.tuples.deleteObject(`token:${id}`)
        change.credentialChanged('api-token', id)
      }
      await deleteTokens(change.db, ids)
      return ids.length
    },
  }
}
