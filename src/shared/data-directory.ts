/** Where a server keeps its data when nothing is said: root has a place of its own, others one below their home. */
export function defaultDataDirectory(account: {
  readonly uid: number | undefined
  readonly stateHome: string | undefined
  readonly home: string
}): string {
  if (account.uid === 0) return '/var/lib/ctl'
  return `${account.stateHome || `${account.home}/.local/state`}/ctl`
}
