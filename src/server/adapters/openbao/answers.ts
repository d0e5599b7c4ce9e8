import { z } from 'zod'
import type { SecretStoreFault } from '../../ports/secret-store.ts'
import { BaoError } from './bao-error.ts'
import type { BaoAnswer } from './connection.ts'

const Errors = z.object({ errors: z.array(z.string()) })

/** What the server said was wrong; undefined where the answer is not one of OpenBao or Vault. */
export function errorsOf({ body }: BaoAnswer): readonly string[] | undefined {
  const found = Errors.safeParse(body)
  return found.success ? found.data.errors : undefined
}

/** Sentences by status, without what the server wrote: an answer could repeat the request. */
const BY_STATUS: Readonly<Record<number, readonly [SecretStoreFault, string]>> = {
  403: ['refused', 'the token is not valid, or its policy does not allow the call'],
  404: ['broken', 'there is no such engine at the mount, or no such namespace'],
  405: ['broken', 'the engine at the mount is of another kind'],
  412: ['overloaded', 'the server has not caught up with an earlier write'],
  413: ['broken', 'the server takes no body of this size'],
  429: ['overloaded', 'the server limits the rate of calls'],
  472: ['broken', 'the server is a disaster recovery secondary'],
  473: ['broken', 'the server is a standby that forwards nothing'],
  501: ['sealed', 'the server is not initialized'],
  507: ['full', 'the server has no space left'],
}

/** The error of an answer that is no success. */
export function unusable(answer: BaoAnswer): BaoError {
  const { status } = answer
  const [fault, sentence] = BY_STATUS[status] ?? (status >= 500 ? failed(answer) : unexpected(status))
  return new BaoError(fault, `${sentence} (HTTP ${status})`)
}

/** A storage without space is a 500 with the words of the system. */
function failed(answer: BaoAnswer): readonly [SecretStoreFault, string] {
  const said = (errorsOf(answer) ?? []).join('\n')
  if (/sealed/i.test(said)) return ['sealed', 'the server is sealed']
  if (/no space|disk (is )?full|quota exceeded|out of space/i.test(said))
    return ['full', 'the server has no space left']
  return ['broken', 'the server failed']
}

function unexpected(status: number): readonly [SecretStoreFault, string] {
  const isRedirect = status >= 300 && status < 400
  return ['broken', isRedirect ? 'the server redirects, which is not followed' : 'the answer is not an expected one']
}

/** Parses the body of a success. @throws BaoError for a body that is none of OpenBao or Vault. */
export function bodyOf<T>(answer: BaoAnswer, schema: z.ZodType<T>): T {
  if (answer.status !== 200) throw unusable(answer)
  const found = schema.safeParse(answer.body)
  if (found.success) return found.data
  throw new BaoError('broken', `the answer does not have the shape of the engine (HTTP ${answer.status})`)
}

/** Asserts a success whose body does not matter. */
export function assertDone(answer: BaoAnswer): void {
  if (answer.status !== 200 && answer.status !== 204) throw unusable(answer)
}
