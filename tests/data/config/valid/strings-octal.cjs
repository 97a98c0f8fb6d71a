module.exports = { bell: '\7', letter: '\101\060', long: '\400' };
