/** The environment of the programs that the agent runs: no variable of the caller reaches them, and they print in English. */
export function cleanEnvironment(): Record<string, string> {
  return { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }
}
