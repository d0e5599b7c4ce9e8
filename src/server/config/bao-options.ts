import type { Option } from './option.ts'
import { on, path, roleName, storePath } from './values.ts'

/** The options by which one service on OpenBao or Vault is reached, and logged in to. */
interface BaoOptions {
  readonly namespace: Option<string>
  readonly ca: Option<string>
  readonly plaintext: Option<boolean>
  readonly tokenFile: Option<string>
  readonly roleId: Option<string>
  readonly secretIdFile: Option<string>
  readonly kubernetesRole: Option<string>
  readonly jwtFile: Option<string>
  readonly loginMount: Option<string>
}

interface BaoWords {
  /** `the secret store`. */
  readonly service: string
  /** What the option `plaintext` risks. */
  readonly plaintext: string
}

/** The options of a service, whose flags begin with `--<prefix>-`. */
export function baoOptions(prefix: 'secret-store' | 'signer', { service, plaintext }: BaoWords): BaoOptions {
  return {
    namespace: {
      parse: storePath,
      placeholder: 'PATH',
      fallbackWords: 'the root namespace',
      describe: 'Namespace of the engine and of the login',
    },
    ca: {
      parse: path,
      placeholder: 'FILE',
      fallbackWords: 'the well-known authorities',
      describe: `Certificates in PEM that vouch for ${service}`,
    },
    plaintext: { parse: on, fallback: 'false', describe: plaintext },
    tokenFile: {
      parse: path,
      placeholder: 'FILE',
      describe: `File with a token for ${service}; read again at each login, so that an agent may replace it`,
    },
    roleId: {
      parse: roleName,
      placeholder: 'ID',
      describe: `Role id of the AppRole to log in with. Needs --${prefix}-secret-id-file`,
    },
    secretIdFile: { parse: path, placeholder: 'FILE', describe: `File with the secret id of --${prefix}-role-id` },
    kubernetesRole: {
      parse: roleName,
      placeholder: 'NAME',
      describe: "Role of the Kubernetes login, which uses this pod's service account",
    },
    jwtFile: {
      parse: path,
      placeholder: 'FILE',
      fallbackWords: '/var/run/secrets/kubernetes.io/serviceaccount/token',
      describe: `File with the service account token for --${prefix}-kubernetes-role`,
    },
    loginMount: {
      parse: storePath,
      placeholder: 'PATH',
      fallbackWords: 'approle or kubernetes',
      describe: 'Path of the auth method for the AppRole or Kubernetes login',
    },
  }
}
