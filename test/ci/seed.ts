/** A seed of so many domains besides `extra.seed.test`, in two accounts. */
export function seedOf(domains: number): string {
  const each = Array.from(
    { length: domains },
    (_, i) => `
      - name: d${i}.seed.test
        zonefile: |
          www 300 A 192.0.2.1
          www 300 A 192.0.2.2
          text 60 TXT "as it was"
          alias 60 CNAME www`,
  )
  return `
accounts:
  - email: owner@seed.test
    domains:${each.join('')}
    tokens:
      - {secret: token-of-the-owner, perm_create_domain: true, perm_delete_domain: true, perm_manage_tokens: true}
      - secret: token-with-policies
        policies:
          - perm_write: false
          - {domain: d0.seed.test, subname: www, type: A, perm_write: true}
  - email: other@seed.test
    limit_domains: 1
    domains: [{name: extra.seed.test}]
    tokens: [{secret: token-of-the-other, perm_create_domain: true, perm_delete_domain: true}]
`
}
