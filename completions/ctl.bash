# bash completion for ctl; generated, do not edit
# Source it, or put it where bash-completion looks: ctl completion install

# Sets what may follow the command words in $1.
_ctl_at() {
  subs='' flags='' valued='' files='' choices='' named='' names=''
  case "$1" in
    '') subs='serve agent-sim login logout whoami status doctor api openapi admin service-identities tokens authz tuples audit nodes events contexts config completion help cloud-credentials clouds sessions trust-bundles idp invitations factors identities domains projects resources secrets cloud-assignments provider-configs credentials grants groups approvals bundles join-tokens executions mediated-sessions signing-keys' flags='--help --quiet --no-input --no-color' ;;
    'serve') flags='--help' ;;
    'agent-sim') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --output --jq --columns --sort --no-headers --nodes --duration --warm-up --heartbeat-interval --domain --join-token-file --state-dir --scenario --edges --endpoint-changes --pulls --reports --no-events --no-mesh --deregister --fail-on --connections --concurrency' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --nodes -n --duration --warm-up --heartbeat-interval --domain --join-token-file --state-dir --scenario --edges --endpoint-changes --pulls --reports --fail-on --connections --concurrency' files='--token-file --ca-file --join-token-file --scenario' named='--context --domain' ;;
    'login') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --output --jq --columns --sort --no-headers --with-token --no-browser --domain --idp --scope --name' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain --idp --scope --name' files='--token-file --ca-file' named='--context --domain' ;;
    'logout') flags='--help --quiet --no-input --no-color --context --global' valued='--context' ;;
    'whoami') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort' files='--token-file --ca-file' named='--context' ;;
    'status') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --output --jq --columns --sort --no-headers --watch' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort' files='--token-file --ca-file' named='--context' ;;
    'doctor') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --output --jq --columns --sort --no-headers --data-dir' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --data-dir' files='--token-file --ca-file' named='--context' ;;
    'api') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch --field --raw-field --from-file --header --include --paginate' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --field -F --raw-field --from-file -f --header -H' files='--token-file --ca-file --from-file -f' choices='GET POST PUT PATCH DELETE HEAD' named='--context' ;;
    'openapi') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --output --jq --columns --sort --no-headers' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort' files='--token-file --ca-file' named='--context' ;;
    'admin') subs='bootstrap-token after-restore master-key users' flags='--help --quiet --no-input --no-color' ;;
    'admin bootstrap-token') flags='--help' ;;
    'admin after-restore') flags='--help' ;;
    'admin master-key') subs='rotate' flags='--help --quiet --no-input --no-color' ;;
    'admin master-key rotate') flags='--help' ;;
    'admin users') subs='disable enable reset-factors reset-password add list update delete' flags='--help --quiet --no-input --no-color' ;;
    'admin users disable') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort' files='--token-file --ca-file' named='--context' names='yes' ;;
    'admin users enable') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort' files='--token-file --ca-file' named='--context' names='yes' ;;
    'admin users reset-factors') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort' files='--token-file --ca-file' named='--context' names='yes' ;;
    'admin users reset-password') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort' files='--token-file --ca-file' named='--context' names='yes' ;;
    'admin users add') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --display-name --email --domain --platform-admin --from-file --if-not-exists --data-dir --database-url --config' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --display-name --email --domain --from-file -f --data-dir --database-url --config' files='--token-file --ca-file --from-file -f --config' named='--context --domain' ;;
    'admin users list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --limit --all --watch' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L' files='--token-file --ca-file' named='--context' ;;
    'admin users update') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --display-name --email --disabled --reset-password --reset-second-factors --from-file' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --display-name --email --from-file -f' files='--token-file --ca-file --from-file -f' named='--context' names='yes' ;;
    'admin users delete') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --yes' valued='--context --url --token-file --ca-file --timeout' files='--token-file --ca-file' named='--context' names='yes' ;;
    'service-identities') subs='list show disable enable create update delete' flags='--help --quiet --no-input --no-color' ;;
    'service-identities list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --limit --all --watch --domain --handle' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L --domain --handle' files='--token-file --ca-file' named='--context --domain' ;;
    'service-identities show') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'service-identities disable') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'service-identities enable') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'service-identities create') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --domain --display-name --jwks --spiffe-id --from-file --if-not-exists --jwks-file' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain --display-name --jwks --spiffe-id --from-file -f --jwks-file' files='--token-file --ca-file --from-file -f --jwks-file' named='--context --domain' ;;
    'service-identities update') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --domain --display-name --jwks --spiffe-id --disabled --from-file --jwks-file' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain --display-name --jwks --spiffe-id --from-file -f --jwks-file' files='--token-file --ca-file --from-file -f --jwks-file' named='--context --domain' names='yes' ;;
    'service-identities delete') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --yes --domain' valued='--context --url --token-file --ca-file --timeout --domain' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'tokens') subs='issue list revoke rotate' flags='--help --quiet --no-input --no-color' ;;
    'tokens issue') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --scopes --expires-in --from-file --for' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --scopes --expires-in --from-file -f --for' files='--token-file --ca-file --from-file -f' named='--context --for' ;;
    'tokens list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch --for' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --for' files='--token-file --ca-file' named='--context --for' ;;
    'tokens revoke') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --yes --for' valued='--context --url --token-file --ca-file --timeout --for' files='--token-file --ca-file' named='--context --for' names='yes' ;;
    'tokens rotate') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --grace --from-file --for' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --grace --from-file -f --for' files='--token-file --ca-file --from-file -f' named='--context --for' names='yes' ;;
    'authz') subs='check explain who-can what-can lookup-resources lookup-subjects impact validate reconcile' flags='--help --quiet --no-input --no-color' ;;
    'authz check') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --facts --domain --project' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --facts --domain --project' files='--token-file --ca-file' named='--context --domain --project' names='yes' ;;
    'authz explain') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --facts --domain --project' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --facts --domain --project' files='--token-file --ca-file' named='--context --domain --project' names='yes' ;;
    'authz who-can') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --output --jq --columns --sort --no-headers --facts --domain --project' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --facts --domain --project' files='--token-file --ca-file' named='--context --domain --project' names='yes' ;;
    'authz what-can') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --output --jq --columns --sort --no-headers --type --facts --domain --project' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --type --facts --domain --project' files='--token-file --ca-file' named='--context --domain --project' names='yes' ;;
    'authz lookup-resources') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --facts --domain --project' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --facts --domain --project' files='--token-file --ca-file' named='--context --domain --project' names='yes' ;;
    'authz lookup-subjects') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --facts --domain --project' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --facts --domain --project' files='--token-file --ca-file' choices='user serviceaccount' named='--context --domain --project' names='yes' ;;
    'authz impact') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --from-file' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --from-file -f' files='--token-file --ca-file --from-file -f' named='--context' ;;
    'authz validate') flags='--help --quiet --no-input --no-color --output --jq --columns --sort --no-headers --file --fail-on-warn' valued='--output -o --jq --columns --sort --file -f' files='--file -f' ;;
    'authz reconcile') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort' files='--token-file --ca-file' named='--context' ;;
    'tuples') subs='export list create import update delete' flags='--help --quiet --no-input --no-color' ;;
    'tuples export') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --project --domain --format --output' valued='--context --url --token-file --ca-file --timeout --project --domain --format --output' files='--token-file --ca-file --output' named='--context --project --domain' ;;
    'tuples list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --limit --all --watch --project --resource --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L --project --resource --domain' files='--token-file --ca-file' named='--context --project --resource --domain' names='yes' ;;
    'tuples create') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --project --domain --from-file --dry-run --caveat' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --project --domain --from-file -f --caveat' files='--token-file --ca-file --from-file -f' named='--context --project --domain' names='yes' ;;
    'tuples import') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --project --domain --dry-run' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --project --domain' files='--token-file --ca-file' named='--context --project --domain' ;;
    'tuples update') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --subject --relation --resource --caveat --dry-run --domain --project' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --subject --relation --resource --caveat --domain --project' files='--token-file --ca-file' named='--context --subject --resource --domain --project' names='yes' ;;
    'tuples delete') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --yes --output --jq --columns --sort --no-headers --domain --project --dry-run' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain --project' files='--token-file --ca-file' named='--context --domain --project' names='yes' ;;
    'audit') subs='list verify export tail' flags='--help --quiet --no-input --no-color' ;;
    'audit list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --limit --all --watch --domain --scope --subject --relation --object --actor --outcome --correlation-id --since --until --project --writes' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L --domain --scope --subject --relation --object --actor --outcome --correlation-id --since --until --project' files='--token-file --ca-file' named='--context --domain --subject --object --project' ;;
    'audit verify') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --output --jq --columns --sort --no-headers --domain --scope --keys' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain --scope --keys' files='--token-file --ca-file --keys' named='--context --domain' ;;
    'audit export') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --domain --scope --since --until --output' valued='--context --url --token-file --ca-file --timeout --domain --scope --since --until --output' files='--token-file --ca-file --output' named='--context --domain' ;;
    'audit tail') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --output --jq --columns --sort --no-headers --domain --scope --subject --relation --object --actor --outcome --correlation-id --since --project --writes' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain --scope --subject --relation --object --actor --outcome --correlation-id --since --project' files='--token-file --ca-file' named='--context --domain --subject --object --project' ;;
    'nodes') subs='events rotate wait prune topology list show update deregister nsk reachability state verify-epochs' flags='--help --quiet --no-input --no-color' ;;
    'nodes events') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --output --jq --columns --sort --no-headers --limit --all --domain --follow --since --verify' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L --domain --since' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'nodes rotate') subs='status preview' flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --output --jq --columns --sort --no-headers --yes --selector --all --domain --batch --max-unavailable --pause-on --wave-timeout --pause --since --include-unreachable --dry-run --no-wait --proof-timeout --no-proof' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --selector -l --domain --batch --max-unavailable --pause-on --wave-timeout --pause --since --proof-timeout' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'nodes rotate status') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch --selector --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --selector -l --domain' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'nodes rotate preview') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch --selector --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --selector -l --domain' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'nodes wait') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --output --jq --columns --sort --no-headers --for --selector --all --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --for --selector -l --domain' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'nodes prune') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --output --jq --columns --sort --no-headers --yes --unreachable-for --selector --domain --dry-run' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --unreachable-for --selector -l --domain' files='--token-file --ca-file' named='--context --domain' ;;
    'nodes topology') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --output --jq --columns --sort --no-headers --watch --domain --node --format' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain --node --format' files='--token-file --ca-file' named='--context --domain --node' ;;
    'nodes list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --limit --all --watch --domain --name --reachability --kind --selector' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L --domain --name --reachability --kind --selector -l' files='--token-file --ca-file' named='--context --domain' ;;
    'nodes show') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch --selector --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --selector -l --domain' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'nodes update') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --name --labels --project --selector --domain --from-file --label --remove-label --no-project' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --name --labels --project --selector -l --domain --from-file -f --label --remove-label' files='--token-file --ca-file --from-file -f' named='--context --project --domain' names='yes' ;;
    'nodes deregister') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --yes --selector --domain' valued='--context --url --token-file --ca-file --timeout --selector -l --domain' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'nodes nsk') subs='rotate revoke' flags='--help --quiet --no-input --no-color' ;;
    'nodes nsk rotate') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --selector --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --selector -l --domain' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'nodes nsk revoke') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --yes --selector --domain' valued='--context --url --token-file --ca-file --timeout --selector -l --domain' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'nodes reachability') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch --selector --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --selector -l --domain' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'nodes state') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch --selector --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --selector -l --domain' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'nodes verify-epochs') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --domain --node --selector --from-file' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain --node --selector -l --from-file -f' files='--token-file --ca-file --from-file -f' named='--context --domain --node' ;;
    'events') subs='verify' flags='--help --quiet --no-input --no-color' ;;
    'events verify') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --output --jq --columns --sort --no-headers --keys' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --keys' files='--token-file --ca-file --keys' named='--context' ;;
    'contexts') subs='list add use previous rename remove' flags='--help --quiet --no-input --no-color' ;;
    'contexts list') flags='--help --quiet --no-input --no-color --output --jq --columns --sort --no-headers' valued='--output -o --jq --columns --sort' ;;
    'contexts add') flags='--help --quiet --no-input --no-color --url --domain --project --ca-file --protected' valued='--url --domain --project --ca-file' files='--ca-file' named='--domain --project' ;;
    'contexts use') flags='--help --quiet --no-input --no-color --domain --project --ca-file --protected' valued='--domain --project --ca-file' files='--ca-file' named='--domain --project' names='yes' ;;
    'contexts previous') flags='--help --quiet --no-input --no-color' ;;
    'contexts rename') flags='--help --quiet --no-input --no-color' names='yes' ;;
    'contexts remove') flags='--help --quiet --no-input --no-color' names='yes' ;;
    'config') subs='view' flags='--help --quiet --no-input --no-color' ;;
    'config view') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --output --jq --columns --sort --no-headers --show-origin' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort' files='--token-file --ca-file' named='--context' ;;
    'completion') subs='bash zsh fish install' flags='--help --quiet --no-input --no-color' ;;
    'completion bash') flags='--help --quiet --no-input --no-color' ;;
    'completion zsh') flags='--help --quiet --no-input --no-color' ;;
    'completion fish') flags='--help --quiet --no-input --no-color' ;;
    'completion install') flags='--help --quiet --no-input --no-color --shell' valued='--shell' ;;
    'help') subs='exit-codes flags' flags='--help --quiet --no-input --no-color' ;;
    'help exit-codes') flags='--help --quiet --no-input --no-color --output --jq --columns --sort --no-headers' valued='--output -o --jq --columns --sort' ;;
    'help flags') flags='--help --quiet --no-input --no-color' ;;
    'cloud-credentials') subs='suspend resume create list show update delete rotate revoke' flags='--help --quiet --no-input --no-color' ;;
    'cloud-credentials suspend') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --cloud' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --cloud' files='--token-file --ca-file' named='--context --cloud' names='yes' ;;
    'cloud-credentials resume') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --cloud' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --cloud' files='--token-file --ca-file' named='--context --cloud' names='yes' ;;
    'cloud-credentials create') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --cloud --expires-at --secret-file --from-file' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --cloud --expires-at --secret-file --from-file -f' files='--token-file --ca-file --secret-file --from-file -f' named='--context --cloud' ;;
    'cloud-credentials list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --limit --all --watch --cloud' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L --cloud' files='--token-file --ca-file' named='--context --cloud' ;;
    'cloud-credentials show') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch --cloud' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --cloud' files='--token-file --ca-file' named='--context --cloud' names='yes' ;;
    'cloud-credentials update') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --display-name --expires-at --state --cloud --from-file' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --display-name --expires-at --state --cloud --from-file -f' files='--token-file --ca-file --from-file -f' named='--context --cloud' names='yes' ;;
    'cloud-credentials delete') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --yes --cloud' valued='--context --url --token-file --ca-file --timeout --cloud' files='--token-file --ca-file' named='--context --cloud' names='yes' ;;
    'cloud-credentials rotate') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --secret-file --cloud --from-file' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --secret-file --cloud --from-file -f' files='--token-file --ca-file --secret-file --from-file -f' named='--context --cloud' names='yes' ;;
    'cloud-credentials revoke') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --reason --cloud --from-file' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --reason --cloud --from-file -f' files='--token-file --ca-file --from-file -f' named='--context --cloud' names='yes' ;;
    'clouds') subs='promote override inline upgrade create list show update delete' flags='--help --quiet --no-input --no-color' ;;
    'clouds promote') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --output --jq --columns --sort --no-headers --yes --to' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --to' files='--token-file --ca-file' named='--context' names='yes' ;;
    'clouds override') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --output --jq --columns --sort --no-headers --yes --package --clear' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --package' files='--token-file --ca-file' named='--context' names='yes' ;;
    'clouds inline') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --output --jq --columns --sort --no-headers --yes --package --config-api-version' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --package --config-api-version' files='--token-file --ca-file' named='--context' names='yes' ;;
    'clouds upgrade') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --output --jq --columns --sort --no-headers --yes --bundle --to --batch --pause --dry-run' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --bundle --to --batch' files='--token-file --ca-file' named='--context --bundle' ;;
    'clouds create') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --display-name --provider --endpoint --region-default --bundle --bundle-version --package --config-api-version --override --from-file --if-not-exists' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --display-name --provider --endpoint --region-default --bundle --bundle-version --package --config-api-version --override --from-file -f' files='--token-file --ca-file --from-file -f' named='--context --bundle' ;;
    'clouds list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --limit --all --watch' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L' files='--token-file --ca-file' named='--context' ;;
    'clouds show') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort' files='--token-file --ca-file' named='--context' names='yes' ;;
    'clouds update') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --display-name --endpoint --region-default --bundle --bundle-version --package --config-api-version --override --from-file' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --display-name --endpoint --region-default --bundle --bundle-version --package --config-api-version --override --from-file -f' files='--token-file --ca-file --from-file -f' named='--context --bundle' names='yes' ;;
    'clouds delete') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --yes' valued='--context --url --token-file --ca-file --timeout' files='--token-file --ca-file' named='--context' names='yes' ;;
    'sessions') subs='list revoke' flags='--help --quiet --no-input --no-color' ;;
    'sessions list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort' files='--token-file --ca-file' named='--context' ;;
    'sessions revoke') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --yes' valued='--context --url --token-file --ca-file --timeout' files='--token-file --ca-file' named='--context' names='yes' ;;
    'trust-bundles') subs='list set' flags='--help --quiet --no-input --no-color' ;;
    'trust-bundles list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain' files='--token-file --ca-file' named='--context --domain' ;;
    'trust-bundles set') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --domain --bundles --from-file' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain --bundles --from-file -f' files='--token-file --ca-file --from-file -f' named='--context --domain' ;;
    'idp') subs='list create update delete test' flags='--help --quiet --no-input --no-color' ;;
    'idp list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --limit --all --watch --domain --scope' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L --domain --scope' files='--token-file --ca-file' named='--context --domain' ;;
    'idp create') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --domain --scope --label --issuer --client-id --client-secret-file --api-audience --algorithms --claims --required-acr --required-amr --sign-in --primary --auto-provision --allow-private-network --from-file --if-not-exists' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain --scope --label --issuer --client-id --client-secret-file --api-audience --algorithms --claims --required-acr --required-amr --auto-provision --from-file -f' files='--token-file --ca-file --client-secret-file --from-file -f' named='--context --domain' ;;
    'idp update') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --alias --label --issuer --client-id --client-secret-file --api-audience --algorithms --claims --required-acr --required-amr --sign-in --primary --auto-provision --allow-private-network --active --domain --from-file --scope' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --alias --label --issuer --client-id --client-secret-file --api-audience --algorithms --claims --required-acr --required-amr --auto-provision --domain --from-file -f --scope' files='--token-file --ca-file --client-secret-file --from-file -f' named='--context --domain' names='yes' ;;
    'idp delete') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --yes --domain --scope' valued='--context --url --token-file --ca-file --timeout --domain --scope' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'idp test') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --domain --scope' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain --scope' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'invitations') subs='create list revoke' flags='--help --quiet --no-input --no-color' ;;
    'invitations create') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --domain --ttl --from-file --if-not-exists' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain --ttl --from-file -f' files='--token-file --ca-file --from-file -f' named='--context --domain' ;;
    'invitations list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --limit --all --watch --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L --domain' files='--token-file --ca-file' named='--context --domain' ;;
    'invitations revoke') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --yes --domain' valued='--context --url --token-file --ca-file --timeout --domain' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'factors') subs='list' flags='--help --quiet --no-input --no-color' ;;
    'factors list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort' files='--token-file --ca-file' named='--context' ;;
    'identities') subs='list show' flags='--help --quiet --no-input --no-color' ;;
    'identities list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --limit --all --watch --domain --kind --handle' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L --domain --kind --handle' files='--token-file --ca-file' named='--context --domain' ;;
    'identities show') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'domains') subs='create list show usage update delete' flags='--help --quiet --no-input --no-color' ;;
    'domains create') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --display-name --mesh-cidr --endpoint-ttl --audit-retention-days --trusted-networks --business-hours --strong-acr --from-file --if-not-exists' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --display-name --mesh-cidr --endpoint-ttl --audit-retention-days --trusted-networks --business-hours --strong-acr --from-file -f' files='--token-file --ca-file --from-file -f' named='--context' ;;
    'domains list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --limit --all --watch' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L' files='--token-file --ca-file' named='--context' ;;
    'domains show') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort' files='--token-file --ca-file' named='--context' names='yes' ;;
    'domains usage') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort' files='--token-file --ca-file' named='--context' names='yes' ;;
    'domains update') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --display-name --endpoint-ttl --audit-retention-days --trusted-networks --business-hours --strong-acr --from-file' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --display-name --endpoint-ttl --audit-retention-days --trusted-networks --business-hours --strong-acr --from-file -f' files='--token-file --ca-file --from-file -f' named='--context' names='yes' ;;
    'domains delete') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --yes' valued='--context --url --token-file --ca-file --timeout' files='--token-file --ca-file' named='--context' names='yes' ;;
    'projects') subs='create list show update delete' flags='--help --quiet --no-input --no-color' ;;
    'projects create') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --domain --display-name --from-file --if-not-exists' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain --display-name --from-file -f' files='--token-file --ca-file --from-file -f' named='--context --domain' ;;
    'projects list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --limit --all --watch --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L --domain' files='--token-file --ca-file' named='--context --domain' ;;
    'projects show') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'projects update') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --display-name --domain --from-file' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --display-name --domain --from-file -f' files='--token-file --ca-file --from-file -f' named='--context --domain' names='yes' ;;
    'projects delete') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --yes --domain' valued='--context --url --token-file --ca-file --timeout --domain' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'resources') subs='create list show update delete' flags='--help --quiet --no-input --no-color' ;;
    'resources create') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --project --kind --display-name --host-node --domain --from-file --if-not-exists' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --project --kind --display-name --host-node --domain --from-file -f' files='--token-file --ca-file --from-file -f' named='--context --project --host-node --domain' ;;
    'resources list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --limit --all --watch --project --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L --project --domain' files='--token-file --ca-file' named='--context --project --domain' ;;
    'resources show') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch --project --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --project --domain' files='--token-file --ca-file' named='--context --project --domain' names='yes' ;;
    'resources update') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --project --display-name --host-node --domain --from-file' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --project --display-name --host-node --domain --from-file -f' files='--token-file --ca-file --from-file -f' named='--context --project --host-node --domain' names='yes' ;;
    'resources delete') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --yes --project --domain' valued='--context --url --token-file --ca-file --timeout --project --domain' files='--token-file --ca-file' named='--context --project --domain' names='yes' ;;
    'secrets') subs='put list show delete' flags='--help --quiet --no-input --no-color' ;;
    'secrets put') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --project --value-file --domain --from-file' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --project --value-file --domain --from-file -f' files='--token-file --ca-file --value-file --from-file -f' named='--context --project --domain' ;;
    'secrets list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --limit --all --watch --project --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L --project --domain' files='--token-file --ca-file' named='--context --project --domain' ;;
    'secrets show') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch --project --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --project --domain' files='--token-file --ca-file' named='--context --project --domain' ;;
    'secrets delete') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --yes --project --version --domain' valued='--context --url --token-file --ca-file --timeout --project --version --domain' files='--token-file --ca-file' named='--context --project --domain' ;;
    'cloud-assignments') subs='request list revoke' flags='--help --quiet --no-input --no-color' ;;
    'cloud-assignments request') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --project --cloud --domain --from-file' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --project --cloud --domain --from-file -f' files='--token-file --ca-file --from-file -f' named='--context --project --cloud --domain' ;;
    'cloud-assignments list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --limit --all --watch --project --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L --project --domain' files='--token-file --ca-file' named='--context --project --domain' ;;
    'cloud-assignments revoke') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --reason --cascade --from-file' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --reason --from-file -f' files='--token-file --ca-file --from-file -f' named='--context' ;;
    'provider-configs') subs='show' flags='--help --quiet --no-input --no-color' ;;
    'provider-configs show') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch --project --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --project --domain' files='--token-file --ca-file' named='--context --project --domain' names='yes' ;;
    'credentials') subs='request list revoke' flags='--help --quiet --no-input --no-color' ;;
    'credentials request') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --project --cloud-credential --cloud --domain --from-file' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --project --cloud-credential --cloud --domain --from-file -f' files='--token-file --ca-file --from-file -f' named='--context --project --cloud-credential --cloud --domain' ;;
    'credentials list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --limit --all --watch --project --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L --project --domain' files='--token-file --ca-file' named='--context --project --domain' ;;
    'credentials revoke') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --reason --from-file' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --reason --from-file -f' files='--token-file --ca-file --from-file -f' named='--context' ;;
    'grants') subs='create list delete platform' flags='--help --quiet --no-input --no-color' ;;
    'grants create') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --domain --from-file --dry-run --project --caveat' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain --from-file -f --project --caveat' files='--token-file --ca-file --from-file -f' named='--context --domain --project' names='yes' ;;
    'grants list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --limit --all --watch --domain --project' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L --domain --project' files='--token-file --ca-file' named='--context --domain --project' names='yes' ;;
    'grants delete') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --yes --output --jq --columns --sort --no-headers --domain --dry-run --project' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain --project' files='--token-file --ca-file' named='--context --domain --project' names='yes' ;;
    'grants platform') subs='create list delete' flags='--help --quiet --no-input --no-color' ;;
    'grants platform create') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --domain --from-file --dry-run' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain --from-file -f' files='--token-file --ca-file --from-file -f' named='--context --domain' names='yes' ;;
    'grants platform list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --limit --all --watch' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L' files='--token-file --ca-file' named='--context' ;;
    'grants platform delete') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --yes --output --jq --columns --sort --no-headers --dry-run' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort' files='--token-file --ca-file' named='--context' names='yes' ;;
    'groups') subs='create list show update delete add-member remove-member' flags='--help --quiet --no-input --no-color' ;;
    'groups create') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --domain --display-name --provider-group --from-file --if-not-exists' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain --display-name --provider-group --from-file -f' files='--token-file --ca-file --from-file -f' named='--context --domain' ;;
    'groups list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --limit --all --watch --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L --domain' files='--token-file --ca-file' named='--context --domain' ;;
    'groups show') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'groups update') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --domain --display-name --from-file' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain --display-name --from-file -f' files='--token-file --ca-file --from-file -f' named='--context --domain' names='yes' ;;
    'groups delete') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --yes --output --jq --columns --sort --no-headers --domain --dry-run' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'groups add-member') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --yes --output --jq --columns --sort --no-headers --domain --dry-run' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'groups remove-member') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --yes --output --jq --columns --sort --no-headers --domain --dry-run' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'approvals') subs='list show approve reject withdraw policy' flags='--help --quiet --no-input --no-color' ;;
    'approvals list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --limit --all --watch --state --kind --project --domain --role --mine --to-decide' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L --state --kind --project --domain --role' files='--token-file --ca-file' named='--context --project --domain' ;;
    'approvals show') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort' files='--token-file --ca-file' named='--context' names='yes' ;;
    'approvals approve') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --reason --from-file' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --reason --from-file -f' files='--token-file --ca-file --from-file -f' named='--context' names='yes' ;;
    'approvals reject') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --reason --from-file' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --reason --from-file -f' files='--token-file --ca-file --from-file -f' named='--context' names='yes' ;;
    'approvals withdraw') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort' files='--token-file --ca-file' named='--context' names='yes' ;;
    'approvals policy') subs='show set' flags='--help --quiet --no-input --no-color' ;;
    'approvals policy show') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch --domain --platform' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain' files='--token-file --ca-file' named='--context --domain' ;;
    'approvals policy set') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --domain --ttl --platform --require --release' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain --ttl --require --release' files='--token-file --ca-file' named='--context --domain' ;;
    'bundles') subs='create list show update delete clouds versions' flags='--help --quiet --no-input --no-color' ;;
    'bundles create') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --display-name --provider --package --config-api-version --from-file --if-not-exists' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --display-name --provider --package --config-api-version --from-file -f' files='--token-file --ca-file --from-file -f' named='--context' ;;
    'bundles list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --limit --all --watch' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L' files='--token-file --ca-file' named='--context' ;;
    'bundles show') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort' files='--token-file --ca-file' named='--context' names='yes' ;;
    'bundles update') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --display-name --package --config-api-version --from-file' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --display-name --package --config-api-version --from-file -f' files='--token-file --ca-file --from-file -f' named='--context' names='yes' ;;
    'bundles delete') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --yes' valued='--context --url --token-file --ca-file --timeout' files='--token-file --ca-file' named='--context' names='yes' ;;
    'bundles clouds') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --limit --all --watch' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L' files='--token-file --ca-file' named='--context' names='yes' ;;
    'bundles versions') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --limit --all --watch' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L' files='--token-file --ca-file' named='--context' names='yes' ;;
    'join-tokens') subs='create list revoke' flags='--help --quiet --no-input --no-color' ;;
    'join-tokens create') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --domain --ttl --max-uses --project --labels --ephemeral --node --from-file' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --domain --ttl --max-uses --project --labels --node --from-file -f' files='--token-file --ca-file --from-file -f' named='--context --domain --project --node' ;;
    'join-tokens list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --limit --all --watch --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L --domain' files='--token-file --ca-file' named='--context --domain' ;;
    'join-tokens revoke') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --yes --domain' valued='--context --url --token-file --ca-file --timeout --domain' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'executions') subs='create list show cancel' flags='--help --quiet --no-input --no-color' ;;
    'executions create') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --type --parameters --expires-in --from-file' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --type --parameters --expires-in --from-file -f' files='--token-file --ca-file --from-file -f' named='--context' names='yes' ;;
    'executions list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --limit --all --watch --status --selector --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L --status --selector -l --domain' files='--token-file --ca-file' named='--context --domain' names='yes' ;;
    'executions show') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort' files='--token-file --ca-file' named='--context' names='yes' ;;
    'executions cancel') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort' files='--token-file --ca-file' named='--context' names='yes' ;;
    'mediated-sessions') subs='create list revoke' flags='--help --quiet --no-input --no-color' ;;
    'mediated-sessions create') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes --project --node --kind --target --ttl --idle-timeout --domain --from-file' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --project --node --kind --target --ttl --idle-timeout --domain --from-file -f' files='--token-file --ca-file --from-file -f' named='--context --project --node --domain' ;;
    'mediated-sessions list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --limit --all --watch --project --domain' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --limit -L --project --domain' files='--token-file --ca-file' named='--context --project --domain' ;;
    'mediated-sessions revoke') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --yes --project --domain' valued='--context --url --token-file --ca-file --timeout --project --domain' files='--token-file --ca-file' named='--context --project --domain' names='yes' ;;
    'signing-keys') subs='list rotate' flags='--help --quiet --no-input --no-color' ;;
    'signing-keys list') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --watch --include' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort --include' files='--token-file --ca-file' named='--context' ;;
    'signing-keys rotate') flags='--help --quiet --no-input --no-color --context --url --token-file --ca-file --timeout --debug --trace --curl --output --jq --columns --sort --no-headers --yes' valued='--context --url --token-file --ca-file --timeout --output -o --jq --columns --sort' files='--token-file --ca-file' named='--context' ;;
    *) return 1 ;;
  esac
}

# Sets `choices` to what the value of flag $2 of the command $1 may be.
_ctl_values() {
  case "$1 $2" in
    'agent-sim --output' | 'agent-sim -o') choices='table wide json jsonl yaml name' ;;
    'login --output' | 'login -o') choices='table wide json jsonl yaml name' ;;
    'whoami --output' | 'whoami -o') choices='table wide json jsonl yaml name' ;;
    'status --output' | 'status -o') choices='table wide json jsonl yaml name' ;;
    'doctor --output' | 'doctor -o') choices='table wide json jsonl yaml name' ;;
    'api --output' | 'api -o') choices='table wide json jsonl yaml name' ;;
    'openapi --output' | 'openapi -o') choices='table wide json jsonl yaml name' ;;
    'admin users disable --output' | 'admin users disable -o') choices='table wide json jsonl yaml name' ;;
    'admin users enable --output' | 'admin users enable -o') choices='table wide json jsonl yaml name' ;;
    'admin users reset-factors --output' | 'admin users reset-factors -o') choices='table wide json jsonl yaml name' ;;
    'admin users reset-password --output' | 'admin users reset-password -o') choices='table wide json jsonl yaml name' ;;
    'admin users add --output' | 'admin users add -o') choices='table wide json jsonl yaml name' ;;
    'admin users list --output' | 'admin users list -o') choices='table wide json jsonl yaml name' ;;
    'admin users update --output' | 'admin users update -o') choices='table wide json jsonl yaml name' ;;
    'service-identities list --output' | 'service-identities list -o') choices='table wide json jsonl yaml name' ;;
    'service-identities show --output' | 'service-identities show -o') choices='table wide json jsonl yaml name' ;;
    'service-identities disable --output' | 'service-identities disable -o') choices='table wide json jsonl yaml name' ;;
    'service-identities enable --output' | 'service-identities enable -o') choices='table wide json jsonl yaml name' ;;
    'service-identities create --output' | 'service-identities create -o') choices='table wide json jsonl yaml name' ;;
    'service-identities update --output' | 'service-identities update -o') choices='table wide json jsonl yaml name' ;;
    'tokens issue --output' | 'tokens issue -o') choices='table wide json jsonl yaml name' ;;
    'tokens list --output' | 'tokens list -o') choices='table wide json jsonl yaml name' ;;
    'tokens rotate --output' | 'tokens rotate -o') choices='table wide json jsonl yaml name' ;;
    'authz check --output' | 'authz check -o') choices='table wide json jsonl yaml name' ;;
    'authz explain --output' | 'authz explain -o') choices='table wide json jsonl yaml name' ;;
    'authz who-can --output' | 'authz who-can -o') choices='table wide json jsonl yaml name' ;;
    'authz what-can --output' | 'authz what-can -o') choices='table wide json jsonl yaml name' ;;
    'authz what-can --type') choices='platform domain project resource network workload node group user serviceaccount cloud cloudcredential provider_bundle labeldefinition token' ;;
    'authz lookup-resources --output' | 'authz lookup-resources -o') choices='table wide json jsonl yaml name' ;;
    'authz lookup-subjects --output' | 'authz lookup-subjects -o') choices='table wide json jsonl yaml name' ;;
    'authz impact --output' | 'authz impact -o') choices='table wide json jsonl yaml name' ;;
    'authz validate --output' | 'authz validate -o') choices='table wide json jsonl yaml name' ;;
    'authz reconcile --output' | 'authz reconcile -o') choices='table wide json jsonl yaml name' ;;
    'tuples export --format') choices='jsonl yaml relationships' ;;
    'tuples list --output' | 'tuples list -o') choices='table wide json jsonl yaml name' ;;
    'tuples create --output' | 'tuples create -o') choices='table wide json jsonl yaml name' ;;
    'tuples import --output' | 'tuples import -o') choices='table wide json jsonl yaml name' ;;
    'tuples update --output' | 'tuples update -o') choices='table wide json jsonl yaml name' ;;
    'tuples delete --output' | 'tuples delete -o') choices='table wide json jsonl yaml name' ;;
    'audit list --output' | 'audit list -o') choices='table wide json jsonl yaml name' ;;
    'audit list --scope') choices='platform' ;;
    'audit list --actor') choices='user service node' ;;
    'audit list --outcome') choices='granted permission_denied invariant_violation not_found internal_error' ;;
    'audit verify --output' | 'audit verify -o') choices='table wide json jsonl yaml name' ;;
    'audit verify --scope') choices='platform' ;;
    'audit export --scope') choices='platform' ;;
    'audit tail --output' | 'audit tail -o') choices='table wide json jsonl yaml name' ;;
    'audit tail --scope') choices='platform' ;;
    'audit tail --actor') choices='user service node' ;;
    'audit tail --outcome') choices='granted permission_denied invariant_violation not_found internal_error' ;;
    'nodes events --output' | 'nodes events -o') choices='table wide json jsonl yaml name' ;;
    'nodes rotate --output' | 'nodes rotate -o') choices='table wide json jsonl yaml name' ;;
    'nodes rotate status --output' | 'nodes rotate status -o') choices='table wide json jsonl yaml name' ;;
    'nodes rotate preview --output' | 'nodes rotate preview -o') choices='table wide json jsonl yaml name' ;;
    'nodes wait --output' | 'nodes wait -o') choices='table wide json jsonl yaml name' ;;
    'nodes prune --output' | 'nodes prune -o') choices='table wide json jsonl yaml name' ;;
    'nodes topology --output' | 'nodes topology -o') choices='table wide json jsonl yaml name' ;;
    'nodes topology --format') choices='table tree dot mermaid svg' ;;
    'nodes list --output' | 'nodes list -o') choices='table wide json jsonl yaml name' ;;
    'nodes list --reachability') choices='never_reported healthy stale unreachable' ;;
    'nodes show --output' | 'nodes show -o') choices='table wide json jsonl yaml name' ;;
    'nodes update --output' | 'nodes update -o') choices='table wide json jsonl yaml name' ;;
    'nodes nsk rotate --output' | 'nodes nsk rotate -o') choices='table wide json jsonl yaml name' ;;
    'nodes reachability --output' | 'nodes reachability -o') choices='table wide json jsonl yaml name' ;;
    'nodes state --output' | 'nodes state -o') choices='table wide json jsonl yaml name' ;;
    'nodes verify-epochs --output' | 'nodes verify-epochs -o') choices='table wide json jsonl yaml name' ;;
    'events verify --output' | 'events verify -o') choices='table wide json jsonl yaml name' ;;
    'contexts list --output' | 'contexts list -o') choices='table wide json jsonl yaml name' ;;
    'config view --output' | 'config view -o') choices='table wide json jsonl yaml name' ;;
    'completion install --shell') choices='bash zsh fish' ;;
    'help exit-codes --output' | 'help exit-codes -o') choices='table wide json jsonl yaml name' ;;
    'cloud-credentials suspend --output' | 'cloud-credentials suspend -o') choices='table wide json jsonl yaml name' ;;
    'cloud-credentials resume --output' | 'cloud-credentials resume -o') choices='table wide json jsonl yaml name' ;;
    'cloud-credentials create --output' | 'cloud-credentials create -o') choices='table wide json jsonl yaml name' ;;
    'cloud-credentials list --output' | 'cloud-credentials list -o') choices='table wide json jsonl yaml name' ;;
    'cloud-credentials show --output' | 'cloud-credentials show -o') choices='table wide json jsonl yaml name' ;;
    'cloud-credentials update --output' | 'cloud-credentials update -o') choices='table wide json jsonl yaml name' ;;
    'cloud-credentials update --state') choices='active suspended' ;;
    'cloud-credentials rotate --output' | 'cloud-credentials rotate -o') choices='table wide json jsonl yaml name' ;;
    'cloud-credentials revoke --output' | 'cloud-credentials revoke -o') choices='table wide json jsonl yaml name' ;;
    'clouds promote --output' | 'clouds promote -o') choices='table wide json jsonl yaml name' ;;
    'clouds override --output' | 'clouds override -o') choices='table wide json jsonl yaml name' ;;
    'clouds inline --output' | 'clouds inline -o') choices='table wide json jsonl yaml name' ;;
    'clouds upgrade --output' | 'clouds upgrade -o') choices='table wide json jsonl yaml name' ;;
    'clouds create --output' | 'clouds create -o') choices='table wide json jsonl yaml name' ;;
    'clouds create --provider') choices='aws azure gcp hetzner openstack' ;;
    'clouds list --output' | 'clouds list -o') choices='table wide json jsonl yaml name' ;;
    'clouds show --output' | 'clouds show -o') choices='table wide json jsonl yaml name' ;;
    'clouds update --output' | 'clouds update -o') choices='table wide json jsonl yaml name' ;;
    'sessions list --output' | 'sessions list -o') choices='table wide json jsonl yaml name' ;;
    'trust-bundles list --output' | 'trust-bundles list -o') choices='table wide json jsonl yaml name' ;;
    'trust-bundles set --output' | 'trust-bundles set -o') choices='table wide json jsonl yaml name' ;;
    'idp list --output' | 'idp list -o') choices='table wide json jsonl yaml name' ;;
    'idp list --scope') choices='platform' ;;
    'idp create --output' | 'idp create -o') choices='table wide json jsonl yaml name' ;;
    'idp create --scope') choices='platform' ;;
    'idp create --algorithms') choices='RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA' ;;
    'idp update --output' | 'idp update -o') choices='table wide json jsonl yaml name' ;;
    'idp update --algorithms') choices='RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA' ;;
    'idp update --scope') choices='platform' ;;
    'idp delete --scope') choices='platform' ;;
    'idp test --output' | 'idp test -o') choices='table wide json jsonl yaml name' ;;
    'idp test --scope') choices='platform' ;;
    'invitations create --output' | 'invitations create -o') choices='table wide json jsonl yaml name' ;;
    'invitations list --output' | 'invitations list -o') choices='table wide json jsonl yaml name' ;;
    'factors list --output' | 'factors list -o') choices='table wide json jsonl yaml name' ;;
    'identities list --output' | 'identities list -o') choices='table wide json jsonl yaml name' ;;
    'identities list --kind') choices='user service-identity' ;;
    'identities show --output' | 'identities show -o') choices='table wide json jsonl yaml name' ;;
    'domains create --output' | 'domains create -o') choices='table wide json jsonl yaml name' ;;
    'domains list --output' | 'domains list -o') choices='table wide json jsonl yaml name' ;;
    'domains show --output' | 'domains show -o') choices='table wide json jsonl yaml name' ;;
    'domains usage --output' | 'domains usage -o') choices='table wide json jsonl yaml name' ;;
    'domains update --output' | 'domains update -o') choices='table wide json jsonl yaml name' ;;
    'projects create --output' | 'projects create -o') choices='table wide json jsonl yaml name' ;;
    'projects list --output' | 'projects list -o') choices='table wide json jsonl yaml name' ;;
    'projects show --output' | 'projects show -o') choices='table wide json jsonl yaml name' ;;
    'projects update --output' | 'projects update -o') choices='table wide json jsonl yaml name' ;;
    'resources create --output' | 'resources create -o') choices='table wide json jsonl yaml name' ;;
    'resources create --kind') choices='bridge network workload vm' ;;
    'resources list --output' | 'resources list -o') choices='table wide json jsonl yaml name' ;;
    'resources show --output' | 'resources show -o') choices='table wide json jsonl yaml name' ;;
    'resources update --output' | 'resources update -o') choices='table wide json jsonl yaml name' ;;
    'secrets put --output' | 'secrets put -o') choices='table wide json jsonl yaml name' ;;
    'secrets list --output' | 'secrets list -o') choices='table wide json jsonl yaml name' ;;
    'secrets show --output' | 'secrets show -o') choices='table wide json jsonl yaml name' ;;
    'cloud-assignments request --output' | 'cloud-assignments request -o') choices='table wide json jsonl yaml name' ;;
    'cloud-assignments list --output' | 'cloud-assignments list -o') choices='table wide json jsonl yaml name' ;;
    'cloud-assignments revoke --output' | 'cloud-assignments revoke -o') choices='table wide json jsonl yaml name' ;;
    'provider-configs show --output' | 'provider-configs show -o') choices='table wide json jsonl yaml name' ;;
    'credentials request --output' | 'credentials request -o') choices='table wide json jsonl yaml name' ;;
    'credentials list --output' | 'credentials list -o') choices='table wide json jsonl yaml name' ;;
    'credentials revoke --output' | 'credentials revoke -o') choices='table wide json jsonl yaml name' ;;
    'grants create --output' | 'grants create -o') choices='table wide json jsonl yaml name' ;;
    'grants list --output' | 'grants list -o') choices='table wide json jsonl yaml name' ;;
    'grants delete --output' | 'grants delete -o') choices='table wide json jsonl yaml name' ;;
    'grants platform create --output' | 'grants platform create -o') choices='table wide json jsonl yaml name' ;;
    'grants platform list --output' | 'grants platform list -o') choices='table wide json jsonl yaml name' ;;
    'grants platform delete --output' | 'grants platform delete -o') choices='table wide json jsonl yaml name' ;;
    'groups create --output' | 'groups create -o') choices='table wide json jsonl yaml name' ;;
    'groups list --output' | 'groups list -o') choices='table wide json jsonl yaml name' ;;
    'groups show --output' | 'groups show -o') choices='table wide json jsonl yaml name' ;;
    'groups update --output' | 'groups update -o') choices='table wide json jsonl yaml name' ;;
    'groups delete --output' | 'groups delete -o') choices='table wide json jsonl yaml name' ;;
    'groups add-member --output' | 'groups add-member -o') choices='table wide json jsonl yaml name' ;;
    'groups remove-member --output' | 'groups remove-member -o') choices='table wide json jsonl yaml name' ;;
    'approvals list --output' | 'approvals list -o') choices='table wide json jsonl yaml name' ;;
    'approvals list --state') choices='pending-approval approved rejected withdrawn expired failed' ;;
    'approvals list --role') choices='requester decider' ;;
    'approvals show --output' | 'approvals show -o') choices='table wide json jsonl yaml name' ;;
    'approvals approve --output' | 'approvals approve -o') choices='table wide json jsonl yaml name' ;;
    'approvals reject --output' | 'approvals reject -o') choices='table wide json jsonl yaml name' ;;
    'approvals withdraw --output' | 'approvals withdraw -o') choices='table wide json jsonl yaml name' ;;
    'approvals policy show --output' | 'approvals policy show -o') choices='table wide json jsonl yaml name' ;;
    'approvals policy set --output' | 'approvals policy set -o') choices='table wide json jsonl yaml name' ;;
    'bundles create --output' | 'bundles create -o') choices='table wide json jsonl yaml name' ;;
    'bundles create --provider') choices='aws azure gcp hetzner openstack' ;;
    'bundles list --output' | 'bundles list -o') choices='table wide json jsonl yaml name' ;;
    'bundles show --output' | 'bundles show -o') choices='table wide json jsonl yaml name' ;;
    'bundles update --output' | 'bundles update -o') choices='table wide json jsonl yaml name' ;;
    'bundles clouds --output' | 'bundles clouds -o') choices='table wide json jsonl yaml name' ;;
    'bundles versions --output' | 'bundles versions -o') choices='table wide json jsonl yaml name' ;;
    'join-tokens create --output' | 'join-tokens create -o') choices='table wide json jsonl yaml name' ;;
    'join-tokens list --output' | 'join-tokens list -o') choices='table wide json jsonl yaml name' ;;
    'executions create --output' | 'executions create -o') choices='table wide json jsonl yaml name' ;;
    'executions create --type') choices='builtin hook' ;;
    'executions list --output' | 'executions list -o') choices='table wide json jsonl yaml name' ;;
    'executions list --status') choices='pending ack started succeeded failed cancelled timeout' ;;
    'executions show --output' | 'executions show -o') choices='table wide json jsonl yaml name' ;;
    'executions cancel --output' | 'executions cancel -o') choices='table wide json jsonl yaml name' ;;
    'mediated-sessions create --output' | 'mediated-sessions create -o') choices='table wide json jsonl yaml name' ;;
    'mediated-sessions create --kind') choices='ssh cluster_api tcp' ;;
    'mediated-sessions list --output' | 'mediated-sessions list -o') choices='table wide json jsonl yaml name' ;;
    'signing-keys list --output' | 'signing-keys list -o') choices='table wide json jsonl yaml name' ;;
    'signing-keys list --include') choices='expired' ;;
    'signing-keys rotate --output' | 'signing-keys rotate -o') choices='table wide json jsonl yaml name' ;;
    *) return 1 ;;
  esac
}

# Offers what `ctl __complete` answers for the line up to the cursor. It has 300 ms and never fails aloud.
_ctl_names() {
  local offer
  while IFS=$'\t' read -r offer _; do
    [[ -n $offer ]] || continue
    [[ $cur == [\"\']* ]] || printf -v offer '%q' "$offer"
    COMPREPLY+=("$offer")
  done < <(ctl __complete bash "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
}

_ctl() {
  local subs flags valued files choices named names
  local cur="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" at='' word next=''
  local index
  COMPREPLY=()
  _ctl_at ''
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="${COMP_WORDS[index]}"
    if [[ -n $next ]]; then next=''; continue; fi
    if [[ $word == -* ]]; then
      [[ " $valued " == *" $word "* ]] && next=1
      continue
    fi
    [[ " $subs " == *" $word "* ]] || break
    at="${at:+$at }$word"
    _ctl_at "$at"
  done
  if [[ $before == -* && " $valued " == *" $before "* ]]; then
    if _ctl_values "$at" "$before"; then COMPREPLY=($(compgen -W "$choices" -- "$cur"))
    elif [[ " $files " == *" $before "* ]]; then COMPREPLY=($(compgen -f -- "$cur"))
    elif [[ " $named " == *" $before "* ]]; then _ctl_names
    fi
    return
  fi
  if [[ ${COMP_LINE:0:COMP_POINT} =~ (^|[[:space:]])(--[a-z-]+)=[^[:space:]]*$ ]]; then
    [[ " $named " == *" ${BASH_REMATCH[2]} "* ]] && _ctl_names
    return
  fi
  if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$cur"))
  else
    COMPREPLY=($(compgen -W "$subs $choices" -- "$cur"))
    [[ -n $names ]] && _ctl_names
  fi
}

complete -F _ctl ctl
