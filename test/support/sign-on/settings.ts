/** The settings of single sign-on at an issuer that does not answer. */
export const SIGN_ON = {
  PUBLIC_URL: 'https://dns.example.net',
  OIDC_ISSUER: 'http://127.0.0.1:9',
  OIDC_CLIENT_ID: 'zoneplane',
  OIDC_CLIENT_SECRET: 'secret',
}
