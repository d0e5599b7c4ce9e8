import { WEAKNESSES, type LocalAccount, type LocalSignIn } from '../../ports/local-sign-in.ts'
import { NEW_PROGRESS, withMethod, type Progress, type Step } from './progress.ts'
import type { InteractionDeps, Interaction } from './interaction-types.ts'

/** The result of a submitted form. */
interface Outcome {
  readonly progress: Progress
  readonly problem?: string
}

const NO_PASSKEY = 'That passkey is not known here, or it could not be checked.'
const WRONG_CODE = 'That code is not good. Each code works once; wait for the next one.'
const WRONG_RECOVERY_CODE =
  'That is none of your recovery codes, or it was used before. After several wrong guesses an account rests for a while.'
const BUSY = 'Many people are signing in right now. Try again in a few seconds.'
const REFUSED =
  'Login or password is wrong. After several wrong guesses an account rests for a while: wait, then try again.'
/** The submitted form, and the step that it belongs to. */
interface Answer {
  readonly fields: URLSearchParams
  readonly step: Step
  readonly challenge: string | undefined
}

type Judge = (deps: InteractionDeps, interaction: Interaction, answer: Answer) => Promise<Outcome>

/** The handler of each form, and the steps at which it may be sent; at any other step it is ignored. */
const JUDGES: Readonly<Record<string, { readonly at: readonly Step[]; readonly judge: Judge }>> = {
  password: { at: ['sign-in'], judge: judgePassword },
  passkey: { at: ['sign-in', 'second-factor'], judge: judgePasskey },
  code: { at: ['second-factor'], judge: judgeCode },
  'recovery-code': { at: ['second-factor'], judge: judgeRecoveryCode },
  'new-password': { at: ['new-password'], judge: judgeNewPassword },
  'enrol-totp': { at: ['enrol'], judge: judgeTotp },
  'enrol-passkey': { at: ['enrol'], judge: judgeNewPasskey },
  skip: { at: ['enrol'], judge: async (_deps, { progress }) => ({ progress: { ...progress, wantsToEnrol: false } }) },
  'keep-codes': { at: ['recovery-codes'], judge: judgeKeptCodes },
  'skip-codes': {
    at: ['recovery-codes'],
    judge: async (_deps, { progress }) => ({ progress: withoutCodes(progress) }),
  },
  'start-over': { at: ['second-factor', 'new-password', 'enrol'], judge: async () => ({ progress: NEW_PROGRESS }) },
}

/** Handles the submitted form. */
export async function outcomeOf(deps: InteractionDeps, interaction: Interaction, answer: Answer): Promise<Outcome> {
  const name = answer.fields.get('step') ?? ''
  const row = Object.hasOwn(JUDGES, name) ? JUDGES[name] : undefined
  if (row === undefined || !row.at.includes(answer.step)) return { progress: interaction.progress }
  return row.judge(deps, interaction, answer)
}

async function judgePassword(
  { signIn }: InteractionDeps,
  { sourceAddress }: Interaction,
  { fields }: Answer,
): Promise<Outcome> {
  const login = (fields.get('login') ?? '').slice(0, 254)
  const progress = { ...NEW_PROGRESS, login, wantsToEnrol: fields.get('enrol') === 'yes' }
  const found = await signIn.tryPassword({ login, password: fields.get('password') ?? '', sourceAddress })
  if (found === 'busy') return { progress, problem: BUSY }
  if (found === 'refused') return { progress, problem: REFUSED }
  return { progress: { ...progress, ...provenBy(found), amr: ['pwd'] } }
}

/** Taken from the account as it was read before its secret was checked. */
function provenBy({ id, signedOutAtMs }: LocalAccount): Pick<Progress, 'accountId' | 'signedOutAtMs'> {
  return { accountId: id, signedOutAtMs }
}

async function judgePasskey({ passkeys }: InteractionDeps, interaction: Interaction, answer: Answer): Promise<Outcome> {
  const { progress, account } = interaction
  const { challenge } = answer
  const credential = answer.fields.get('credential') ?? ''
  const shown = challenge === undefined ? undefined : await passkeys?.shown({ credential, challenge }, account)
  if (shown === undefined) return { progress, problem: NO_PASSKEY }
  return { progress: { ...progress, ...provenBy(shown.account), amr: withMethod(progress.amr, shown.amr) } }
}

async function judgeCode({ signIn }: InteractionDeps, interaction: Interaction, { fields }: Answer): Promise<Outcome> {
  const { progress, account, sourceAddress } = interaction
  const guess = { accountId: account?.id ?? '', code: fields.get('code') ?? '', sourceAddress }
  if (account === undefined || !(await signIn.tryCode(guess))) return { progress, problem: WRONG_CODE }
  return { progress: { ...progress, amr: withMethod(progress.amr, ['otp']) } }
}

async function judgeRecoveryCode(
  { signIn }: InteractionDeps,
  { progress, account, sourceAddress }: Interaction,
  { fields }: Answer,
): Promise<Outcome> {
  const code = (fields.get('recovery_code') ?? '').slice(0, 64)
  const isGood = account !== undefined && (await signIn.tryRecoveryCode({ accountId: account.id, code, sourceAddress }))
  if (!isGood) return { progress, problem: WRONG_RECOVERY_CODE }
  // A person who needs one has lost a device, and must set up another one now.
  const amr = withMethod(progress.amr, ['otp'])
  return { progress: { ...progress, amr, wantsToEnrol: true, isRecovered: true } }
}

async function judgeKeptCodes({ signIn }: InteractionDeps, { progress, account }: Interaction): Promise<Outcome> {
  const { recoveryCodes: codes } = progress
  if (account !== undefined && codes !== undefined) await signIn.keepRecoveryCodes({ accountId: account.id, codes })
  return { progress: withoutCodes(progress) }
}

function withoutCodes(progress: Progress): Progress {
  return { ...progress, recoveryCodes: undefined }
}

/** A factor was set up. A person without recovery codes gets some. */
function enrolled(signIn: LocalSignIn, progress: Progress, account: LocalAccount): Progress {
  const done = { ...progress, wantsToEnrol: false }
  return account.recoveryCodes > 0 ? done : { ...done, recoveryCodes: signIn.draftRecoveryCodes() }
}

async function judgeNewPassword(
  { signIn }: InteractionDeps,
  interaction: Interaction,
  { fields }: Answer,
): Promise<Outcome> {
  const { progress, account } = interaction
  const password = fields.get('password') ?? ''
  if (account === undefined) return { progress }
  if (password !== fields.get('again'))
    return { progress, problem: 'The two passwords differ. Type the new one twice.' }
  const changed = await signIn.changePassword({ accountId: account.id, password })
  if (changed === 'busy') return { progress, problem: BUSY }
  if (typeof changed === 'string') return { progress, problem: WEAKNESSES[changed] }
  const hasFactors = account.hasTotp || account.passkeys.length > 0
  return { progress: { ...progress, ...changed, wantsToEnrol: progress.wantsToEnrol || !hasFactors } }
}

async function judgeTotp({ signIn }: InteractionDeps, interaction: Interaction, { fields }: Answer): Promise<Outcome> {
  const { progress, account } = interaction
  const { totp, ...rest } = progress
  if (account === undefined || totp === undefined) return { progress }
  const draft = { accountId: account.id, secret: totp.secret, code: fields.get('code') ?? '' }
  if (!(await signIn.enrolTotp(draft))) return { progress, problem: 'That code is not the one that the app shows now.' }
  return { progress: enrolled(signIn, { ...rest, amr: withMethod(progress.amr, ['otp']) }, account) }
}

async function judgeNewPasskey(
  { signIn, passkeys }: InteractionDeps,
  interaction: Interaction,
  answer: Answer,
): Promise<Outcome> {
  const { progress, account } = interaction
  const { challenge } = answer
  const credential = answer.fields.get('credential') ?? ''
  const isPossible = account !== undefined && challenge !== undefined
  const amr = isPossible ? await passkeys?.enrol({ credential, challenge }, account) : undefined
  if (account === undefined || amr === undefined)
    return { progress, problem: 'The passkey could not be set up. Try again.' }
  return { progress: enrolled(signIn, { ...progress, amr: withMethod(progress.amr, amr) }, account) }
}
