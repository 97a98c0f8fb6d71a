// @ts-check
'use strict';

const path = require('path');

/** @type {import('@docusaurus/types').Config} */
const config = {
  title: 'Decisions',
  url: 'https://decisions.example.com',
  contentDir: 'docs/adr',
  customFields: { root: path.resolve(__dirname, '..') },
  plugins: [
    async function myPlugin(context, options) {
      return {
        name: 'my-plugin',
        configureWebpack(config, isServer) {
          config.module.rules.push({ test: /\.(png|jpe?g)$/i });
          return { resolve: { alias: { path: require.resolve('path-browserify') } } };
        },
      };
    },
  ],
};

module.exports = config;
