/**
 * How an agent ended: the tunnels stay up, everything was removed, it is to be started again, it is to be started again from a new
 * file that is on trial, or the server refused its key.
 */
export type AgentEnd = 'stopped' | 'removed' | 'restart' | 'upgrade' | 'refused'
