import { errors } from 'jose'
import type { idpBindings } from '../../../shared/contract/idp-bindings.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import { Problem } from '../../../shared/problems.ts'
import type { IdpBinding } from '../../ports/idp-bindings.ts'
import type { IssuerMetadata, Issuers } from '../../ports/issuers.ts'
import { OutgoingFetchError } from '../../ports/outgoing-fetch.ts'
import { endpointOf } from './issuer-endpoints.ts'
import { askAuthorization, askToken } from './issuer-probes.ts'
import { StepFailure } from './step-failure.ts'
import type { BindingTest, TestedBinding } from './tested-binding.ts'

type DryRun = Result<(typeof idpBindings)['operations']['PostAdminIdPTest']>
type StepName = DryRun['steps'][number]['step']

/** A step says what it found. @throws StepFailure in a sentence that says what to mend */
type Step = (walked: TestedBinding) => string | Promise<string>

const STEPS: readonly (readonly [StepName, Step])[] = [
  ['endpoints', lookAtEndpoints],
  ['keys', lookForKeys],
  ['algorithms', compareAlgorithms],
  ['authorization', askAuthorization],
  ['client', askToken],
]

/** The steps that only sign-ins need. */
const OF_SIGN_INS: readonly StepName[] = ['endpoints', 'authorization', 'client']

/**
 * Tests the steps of a sign-in with a binding, up to the question to a person. Nobody is signed in: the
 * authorization request forbids its issuer to ask anybody, and the redeemed code is invented. For a binding of access
 * tokens only, only their steps are tested.
 */
export async function dryRunSignIn(binding: IdpBinding, deps: BindingTest): Promise<DryRun> {
  const steps: DryRun['steps'] = []
  let hasFailed = false

  async function take(step: StepName, run: () => string | Promise<string>): Promise<void> {
    if (!binding.signsIn && OF_SIGN_INS.includes(step)) {
      return void steps.push({ step, outcome: 'skipped', says: 'nobody signs in with this binding' })
    }
    if (hasFailed) return void steps.push({ step, outcome: 'skipped', says: 'not tried' })
    try {
      steps.push({ step, outcome: 'passed', says: await run() })
    } catch (error) {
      hasFailed = true
      steps.push({ step, outcome: 'failed', says: sentenceOf(error) })
    }
  }

  let metadata: IssuerMetadata | undefined
  await take('discovery', async () => {
    metadata = await deps.issuers.metadata(binding)
    return `${metadata.issuer} publishes itself`
  })
  for (const [step, run] of STEPS) {
    await take(step, () => run({ ...deps, binding, metadata: known(metadata) }))
  }
  return { passed: !hasFailed, steps }
}

function known(metadata: IssuerMetadata | undefined): IssuerMetadata {
  if (metadata === undefined) throw new Error('a step was taken before discovery')
  return metadata
}

/** The errors that administrators see: those of the steps, of the issuers and of the fetch. Anything else is a bug. */
function sentenceOf(error: unknown): string {
  const found: unknown = error instanceof Problem ? error.cause : error
  if (found instanceof OutgoingFetchError && found.reason === 'forbidden_address') {
    return `${found.message}; who manages the platform may let the binding reach it with allow_private_network`
  }
  if (found instanceof StepFailure || found instanceof OutgoingFetchError) return found.message
  if (error instanceof Problem && found instanceof Error) return found.message
  throw error
}

/** The words of a metadata member that is a list; undefined where the issuer leaves it out. */
function wordsOf({ metadata }: TestedBinding, member: string): readonly string[] | undefined {
  const value = metadata[member]
  return Array.isArray(value) ? value.map(String) : undefined
}

function lookAtEndpoints(walked: TestedBinding): string {
  endpointOf(walked, 'authorization_endpoint')
  endpointOf(walked, 'token_endpoint')
  if (wordsOf(walked, 'response_types_supported')?.includes('code') === false) {
    throw new StepFailure('the issuer does not support the authorization code flow')
  }
  const methods = wordsOf(walked, 'code_challenge_methods_supported')
  if (methods?.includes('S256') === false) throw new StepFailure('the issuer does not support PKCE with S256')
  const pkce = methods === undefined ? 'does not mention PKCE, which is used all the same' : 'supports PKCE with S256'
  return `the issuer has its authorization and token endpoints and ${pkce}`
}

async function lookForKeys({ issuers, binding }: TestedBinding): Promise<string> {
  const found: string[] = []
  for (const alg of binding.algorithms) if (await hasKey(issuers, binding, alg)) found.push(alg)
  if (found.length === 0) {
    throw new StepFailure(`the issuer publishes no key for ${binding.algorithms.join(', ')}; pin what it signs with`)
  }
  return `the issuer publishes keys for ${found.join(', ')}`
}

/** Several matching keys are no problem: the signature decides which one applies. */
async function hasKey(issuers: Issuers, binding: IdpBinding, alg: string): Promise<boolean> {
  try {
    await issuers.key(binding, { alg })
    return true
  } catch (error) {
    if (error instanceof errors.JWKSMultipleMatchingKeys) return true
    if (error instanceof errors.JOSEError) return false
    throw error
  }
}

function compareAlgorithms(walked: TestedBinding): string {
  const { algorithms } = walked.binding
  const offered = wordsOf(walked, 'id_token_signing_alg_values_supported')
  if (offered === undefined) return `the issuer does not say how it signs; ${algorithms.join(', ')} are taken`
  const common = algorithms.filter((alg) => offered.includes(alg))
  if (common.length > 0)
    return `${walked.binding.signsIn ? 'ID tokens' : 'access tokens'} signed with ${common.join(', ')} are taken`
  throw new StepFailure(`the issuer signs with ${listed(offered)}; the binding takes ${algorithms.join(', ')}`)
}

function listed(words: readonly string[]): string {
  return words
    .filter((word) => /^[\w-]{1,32}$/.test(word))
    .slice(0, 10)
    .join(', ')
}
