import { problem } from '../../../shared/problems.ts'
import type { ChangeFeed } from '../../ports/change-feed.ts'

/** The token of SpiceDB's last write, as the change feed delivers it. Subscribe before the feed is started. */
export interface TokenFollower {
  /**
   * The minimum freshness of an answer, as a token; undefined before the first write.
   * @throws Problem `authz_unavailable` while the feed is not confirmed: with an older token, revoked grants would
   * still count.
   */
  token(): string | undefined
}

export function followToken(changeFeed: ChangeFeed): TokenFollower {
  let token: string | undefined
  changeFeed.subscribe(
    (change) => {
      if (change.kind === 'tuples_settled') token = change.payload.zedToken
    },
    async (snapshot) => {
      const head = await snapshot.selectFrom('authz_head').select('zed_token').executeTakeFirstOrThrow()
      token = head.zed_token ?? undefined
    },
  )
  return {
    token() {
      if (!changeFeed.isFresh()) throw problem('authz_unavailable')
      return token
    },
  }
}
