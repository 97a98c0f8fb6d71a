const config = {
  contentDir: 'content',
  webpack: (config, { isServer }) => {
    config.resolve.alias['@'] = './src';
    config.plugins.push(1);
    return config;
  },
  hooks: { 'config:setup'({ config }) { config.title = 'no'; } },
};
export default config;
