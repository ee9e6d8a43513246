"""TLS, one way for all: files of certificates that are read again when they are renewed, for servers and clients."""
