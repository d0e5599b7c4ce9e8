declare module 'jq-web'
