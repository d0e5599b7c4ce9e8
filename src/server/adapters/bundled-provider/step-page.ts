import { ACR_MULTI_FACTOR, acrOf, wantsMultiFactor } from './assurance.ts'
import type { Page } from './pages/page.ts'
import {
  enrolPage,
  newPasswordPage,
  recoveryCodesPage,
  secondFactorPage,
  signInPage,
  type StepView,
} from './pages/steps.ts'
import type { PasskeyQuestion } from './passkeys.ts'
import type { Progress, Step } from './progress.ts'
import type { InteractionDeps, Interaction } from './interaction-types.ts'

/** The address that the forms of an interaction post to. */
export function actionOf(uid: string): string {
  return `/idp/interaction/${uid}`
}

export interface Shown {
  readonly step: Step
  readonly problem: string | undefined
}

/** A page, and the progress with what is needed to check its answer. */
export interface ShownPage {
  readonly page: Page
  readonly progress: Progress
}

type Draw = (deps: InteractionDeps, interaction: Interaction, view: Omit<StepView, 'passkey'>) => Promise<ShownPage>

const DRAWN: Readonly<Record<Exclude<Step, 'done'>, Draw>> = {
  'sign-in': drawSignIn,
  'new-password': drawNewPassword,
  'second-factor': drawSecondFactor,
  enrol: drawEnrolment,
  'recovery-codes': drawRecoveryCodes,
}

/** Draws the page of a step. */
export function pageOf(deps: InteractionDeps, interaction: Interaction, { step, problem }: Shown): Promise<ShownPage> {
  const { uid } = interaction
  const view = { action: actionOf(uid), csrf: deps.guard.tokenOf(uid), problem }
  return DRAWN[step === 'done' ? 'sign-in' : step](deps, interaction, view)
}

async function drawSignIn({ passkeys }: InteractionDeps, { progress }: Interaction, view: Omit<StepView, 'passkey'>) {
  const asked = await passkeys?.ask(undefined)
  const page = signInPage({ ...view, passkey: asked?.options }, progress.login)
  return { page, progress: asking(progress, asked) }
}

async function drawNewPassword(_deps: InteractionDeps, interaction: Interaction, view: Omit<StepView, 'passkey'>) {
  return {
    page: newPasswordPage({ ...view, passkey: undefined }, accountOf(interaction)),
    progress: interaction.progress,
  }
}

async function drawSecondFactor(
  { passkeys }: InteractionDeps,
  interaction: Interaction,
  view: Omit<StepView, 'passkey'>,
) {
  const account = accountOf(interaction)
  const asked = account.passkeys.length > 0 ? await passkeys?.ask(account) : undefined
  const page = secondFactorPage({ ...view, passkey: asked?.options }, account)
  return { page, progress: asking(interaction.progress, asked) }
}

async function drawEnrolment(deps: InteractionDeps, interaction: Interaction, view: Omit<StepView, 'passkey'>) {
  const account = accountOf(interaction)
  const totp = interaction.progress.totp ?? (await deps.signIn.draftTotp(account))
  const asked = await deps.passkeys?.askForNew(account)
  const codesLeft = interaction.progress.isRecovered === true ? account.recoveryCodes : undefined
  const enrolment = { isRequired: isRequired(interaction), hasApp: account.hasTotp, codesLeft }
  const page = enrolPage({ ...view, passkey: asked?.options }, totp, enrolment)
  return { page, progress: { ...asking(interaction.progress, asked), totp } }
}

async function drawRecoveryCodes(_deps: InteractionDeps, { progress }: Interaction, view: Omit<StepView, 'passkey'>) {
  return { page: recoveryCodesPage({ ...view, passkey: undefined }, progress.recoveryCodes ?? []), progress }
}

/** A person who has proved several factors only wants another one. */
function isRequired({ wanted, progress }: Interaction): boolean {
  return wantsMultiFactor(wanted) && acrOf(progress.amr) !== ACR_MULTI_FACTOR
}

/** The progress with the challenge for a passkey. */
function asking(progress: Progress, asked: PasskeyQuestion | undefined): Progress {
  return asked === undefined ? progress : { ...progress, challenge: asked.challenge }
}

/** Only the first step has no account. */
function accountOf({ account }: Interaction) {
  if (account === undefined) throw new Error('nobody is known at this step')
  return account
}
