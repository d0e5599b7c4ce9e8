import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { Failure } from '../api/failure.ts'
import { spanOf } from '../model/format.ts'
import { useConsole } from './context.ts'
import { Problem } from './parts.tsx'

/** Where the console is, which a sign-in comes back to. */
const HERE = '/v1/console/'

/** Offers the sign-in that an operation asks for (RFC 9470), and comes back to this view. */
export function StrongerSignIn({ failure }: { readonly failure: Failure }): VNode {
  const { api, me } = useConsole()
  const [refused, setRefused] = useState<Failure | undefined>(undefined)
  const { acr_values: acrValues, max_age: maxAge } = failure.body
  const begin = async (): Promise<void> => {
    const body = {
      domain_id: me.domain_id,
      return_to: `${HERE}${location.hash}`,
      ...(acrValues !== undefined && { acr_values: acrValues.join(' ') }),
      ...(maxAge !== undefined && { max_age: maxAge }),
    }
    try {
      const { authorization_url: url } = await api.call('PostAuthSignIn', { body })
      location.assign(url)
    } catch (error) {
      setRefused(error instanceof Failure ? error : failure)
    }
  }
  return (
    <div class="notice" role="alert">
      <p>
        This needs a sign-in
        {acrValues !== undefined && <> as {acrValues.join(' or ')}</>}
        {maxAge !== undefined && <> that is at most {spanOf(maxAge * 1000)} old</>}. Sign in again and come back to this
        view.
      </p>
      {refused !== undefined && <Problem failure={refused} />}
      <button type="button" class="quiet" onClick={() => void begin()}>
        Sign in again
      </button>
    </div>
  )
}
