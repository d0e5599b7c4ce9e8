export type RequirementName =
  | 'postgresql'
  | 'pgbouncer'
  | 'nats-server'
  | 'zsh'
  | 'fish'
  | 'tmux'
  | 'openssl'
  | 'dig'
  | 'chromium'
  | 'nginx'
  | 'pebble'
  | 'haproxy'
  | 'caddy'
  | 'promtool'
  | 'systemd-analyze'
  | 'systemd-resolved'
  | 'python3-cryptography'
  | 'openapi-tools'
  | 'spicedb'
  | 'sshd'
  | 'openvpn'
  | 'strongswan'
  | 'mesh-lab'

export declare const REQUIREMENTS: Readonly<
  Record<RequirementName, { readonly find: () => string | undefined; readonly enable: string }>
>

/**
 * Where the named requirement is (the folder of its programs for `postgresql`, the library for `spicedb`, else the program), or undefined when
 * this machine lacks it: a visible skip, `describe.skipIf(requirement('zsh') === undefined)`.
 *
 * @throws Error where CTL_TEST_REQUIRE names it and it is missing.
 */
export declare function requirement(name: RequirementName): string | undefined
