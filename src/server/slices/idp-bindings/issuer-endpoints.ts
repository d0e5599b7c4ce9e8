import { StepFailure } from './step-failure.ts'
import type { TestedBinding } from './tested-binding.ts'

/** An endpoint that a sign-in needs. @throws StepFailure where the issuer has none. */
export function endpointOf(
  { metadata }: Pick<TestedBinding, 'metadata'>,
  name: `${'authorization' | 'token'}_endpoint`,
): string {
  const endpoint = metadata[name]
  if (endpoint !== undefined) return endpoint
  const mend = 'a binding for its access tokens alone says sign_in: false'
  throw new StepFailure(`the issuer has no ${name}: it signs nobody in; ${mend}`)
}
