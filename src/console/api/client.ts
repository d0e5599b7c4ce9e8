import { Failure, isSignedOut, unreachable } from './failure.ts'
import { OPERATIONS, type Answered, type OperationId, type Sent } from './operations.ts'
import { requestOf, type Members } from './request.ts'

/** Calls the API under the session of this browser. */
export interface Api {
  /** @throws Failure for a refusal, and where there is no answer. */
  call<Id extends OperationId>(id: Id, sent: Sent<Id>, signal?: AbortSignal): Promise<Answered<Id>>
}

export interface ApiDeps {
  readonly fetch: typeof fetch
  /** The cookies that scripts may read. */
  readonly cookies: () => string
  /** Called for each answer that the session has ended, or never began. */
  readonly onSignedOut: () => void
}

/** Longer than any read of the console takes. */
const DEADLINE_MS = 30_000

export function createApi(deps: ApiDeps): Api {
  return {
    async call<Id extends OperationId>(id: Id, sent: Sent<Id>, signal?: AbortSignal) {
      const [method, path] = OPERATIONS[id]
      const { url, init } = requestOf({ method, path }, sent as Members, deps.cookies())
      const deadline = AbortSignal.timeout(DEADLINE_MS)
      const within = signal === undefined ? deadline : AbortSignal.any([signal, deadline])
      const response = await deps.fetch(url, { ...init, signal: within }).catch((error: unknown) => {
        if (signal?.aborted === true) throw error
        throw unreachable()
      })
      return (await answerOf(response, deps)) as Answered<Id>
    },
  }
}

async function answerOf(response: Response, { onSignedOut }: ApiDeps): Promise<unknown> {
  const text = await response.text()
  const body: unknown = jsonOf(text)
  if (response.ok) return body
  const failure = new Failure(response.status, typeof body === 'object' && body !== null ? body : {})
  if (isSignedOut(failure)) onSignedOut()
  throw failure
}

/** Undefined for an empty answer, and for one of a proxy that is no JSON. */
function jsonOf(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
