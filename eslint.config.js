import js from '@eslint/js'
import importSort from 'eslint-plugin-simple-import-sort'
import tseslint from 'typescript-eslint'

export default tseslint.config(
  // Without its generated types, the client in TypeScript cannot be checked.
  { ignores: ['**/build/', 'node_modules/', '.zoneplane/', 'clients/typescript/'] },
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['*.js', '*.mjs', 'deb/*.mjs', 'console/*.mjs'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      // knex builders are thenables that never run unless awaited.
      '@typescript-eslint/no-floating-promises': ['error', { checkThenables: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-non-null-assertion': 'off',
      // Packages that are there twice in the types, though once at run time (winston-transport), would trip it.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // Koa's handlers and AVA's assertions are awaited by their callers.
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    plugins: { 'import-sort': importSort },
    // Packages, then our own files from far to near, without empty lines.
    rules: { 'import-sort/imports': ['error', { groups: [['^[^.]', '^\\.\\.', '^\\.']] }] },
  },
  { files: ['src/**'], rules: { complexity: ['error', 15] } },
  {
    // Browsers run it, too, but for messages: it has neither Node nor packages.
    files: ['src/dns/**'],
    ignores: ['src/dns/wire/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ regex: '^[^.]', message: 'src/dns imports only its own files.' }] },
      ],
      'no-restricted-globals': ['error', 'Buffer', 'process', 'global', 'require', 'setImmediate', 'clearImmediate'],
    },
  },
  {
    files: ['*.js', '*.mjs', 'deb/*.mjs', 'release/*.mjs', 'console/*.mjs'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: { globals: { process: 'readonly', console: 'readonly', URL: 'readonly' } },
  },
)
