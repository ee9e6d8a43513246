"""The table service: tables, seats, hands and rulings over gRPC."""
