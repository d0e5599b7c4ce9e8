import type { Side, TestFailure } from './answers.ts'

/** Why one end of a flow lets it pass or not: `rule 2 of db-in`, `db-in isolates it`, `no policy isolates it`. */
export function becauseOf({ isolated, rule, policy = '', policy_id: id = '' }: Side): string {
  const name = policy === '' ? id : policy
  if (!isolated) return 'no policy isolates it'
  return rule === undefined ? `${name} isolates it, and no rule accepts this` : `rule ${rule + 1} of ${name}`
}

/** A flow in a few words: `tcp 5432`, `tcp`, `anything`. */
export function flowText({
  protocol,
  port,
}: {
  readonly protocol: string | null
  readonly port: number | null
}): string {
  if (protocol === null) return port === null ? 'anything' : `port ${port}`
  return port === null ? protocol : `${protocol} ${port}`
}

/** `denied from web-1 to db-1, expected allowed`. */
export function failureText({ expect }: Pick<TestFailure, 'expect'>, from: string, to: string): string {
  const found = expect === 'allowed' ? 'denied' : 'allowed'
  return `${found} from ${from} to ${to}, expected ${expect}`
}
