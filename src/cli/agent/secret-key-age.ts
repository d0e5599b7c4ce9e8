const DAY_MS = 86_400_000

/** How often the agent looks at the age of its node secret key. */
export const SECRET_KEY_LOOK_MS = DAY_MS
/** The age at which it is replaced (agent-protocol: Replacing it). */
const AGE_MS_MAX = 365 * DAY_MS

/** Whether a key that the agent has since that instant is to be replaced. An instant that cannot be read counts as unknown. */
export function isSecretKeyDue(since: string | undefined, nowMs: number): boolean {
  return since !== undefined && nowMs - Date.parse(since) >= AGE_MS_MAX
}
