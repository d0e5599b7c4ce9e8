/** The default data directory of a server: one for root, and one below the home directory for other users. */
export function defaultDataDirectory(account: {
  readonly uid: number | undefined
  readonly stateHome: string | undefined
  readonly home: string
}): string {
  if (account.uid === 0) return '/var/lib/ctl'
  return `${account.stateHome || `${account.home}/.local/state`}/ctl`
}
