import type { MeshName } from './name-table.ts'

/** How programs of this machine learn the addresses of `<node>.mesh`. */
export type NamesWay = 'systemd-resolved' | 'resolvconf' | 'hosts-file' | 'resolver-only' | 'none'

/** Whether names work on this machine. */
export interface NamesStatus {
  readonly way: NamesWay
  /** `address:port` of the resolver; undefined where there is none. */
  readonly listen: string | undefined
  /** Why names do not work for programs, with the way out; undefined where they do. */
  readonly fault: string | undefined
}

/** One way to give checked names to this machine. */
export interface NamesService {
  publish(names: readonly MeshName[]): Promise<void>
  status(): NamesStatus
  /** Ends what listens; what was configured or written stays. */
  close(): Promise<void>
}
